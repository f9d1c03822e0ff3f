/** Several sentences, one below the other. */

interface SentencesProps {
  readonly items: readonly string[];
  /** Whether they are steps, which are numbered. */
  readonly areSteps?: boolean;
}

export function Sentences({ items, areSteps = false }: SentencesProps) {
  const List = areSteps ? "ol" : "ul";
  return (
    <List>
      {items.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </List>
  );
}
