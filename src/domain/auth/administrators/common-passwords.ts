/** Which passwords of 15 characters or more are among the most common: a list, and patterns for the rest. */

/** Leaked lists begin with these; the long common passwords are made of them. */
const WORDS = new Set(
  `abc access admin admin1 administrator angel apple asdf ashley autumn azerty babygirl bailey baseball basketball batman bitch changeme
  charlie cheese chelsea chocolate computer cookie daniel default demo donald dragon football freedom fuck fuckyou george
  ginger guest hacker hannah harley hello hockey hunter iloveyou internet jennifer jessica jesus jordan jordan23 joshua killer lakers
  letmein liverpool login loveme lovely love maggie manager master matrix matthew merlin michael michelle monkey mustang
  naruto nicole ninja pass passcode passphrase passw0rd passwd password password1 pepper pokemon princess purple qazwsx
  qwe qwer qwert qwerty qwerty1 ranger robert root samsung secret server shadow silver soccer solo spring starwars summer sunshine superman
  supervisor system taylor temp test tester testing thomas thunder tigger trustno1 user welcome welcome1 whatever william winter yankees you zaq1 zxcvbn`.split(
    /\s+/,
  ),
);

/** Long common passwords that no pattern below covers; lower case, as typed. */
const PHRASES = new Set(
  `allyourbasearebelongtous correcthorsebatterystaple ihatepasswords iloveyouforever iloveyousomuch letmeinplease maytheforcebewithyou
  mypasswordispassword myverysecretpassword neverforgetthis passwordispassword pleaseletmein pleaseletmein1 thequickbrownfox
  thequickbrownfoxjumpsoverthelazydog thisisapassword thisismypassword thisisnotapassword thisisasecret thisisasecurepassword
  tobeornottobe tobeornottobethatisthequestion whatisthepassword whatismypassword youshallnotpass`.split(/\s+/),
);

/** Runs of keys on keyboards and of letters and digits; read in both directions, and from the end on to the beginning. */
const WALKS = [
  "abcdefghijklmnopqrstuvwxyz",
  "1234567890",
  "qwertyuiop",
  "asdfghjkl",
  "zxcvbnm",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertzuiopasdfghjklyxcvbnm",
  "azertyuiopqsdfghjklmwxcvbn",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
  "1q2w3e4r5t6y7u8i9o0p",
  "qazwsxedcrfvtgbyhnujmikolp",
  "!@#$%^&*()",
].flatMap((walk) => [walk + walk, [...walk, ...walk].reverse().join("")]);

const SHORTEST_PART = 3;
const LONGEST_PART = Math.max(...WALKS.map((walk) => walk.length));
const LOOKALIKES: Readonly<Record<string, string>> = {
  "@": "a",
  "4": "a",
  "0": "o",
  "3": "e",
  "1": "i",
  $: "s",
  "5": "s",
  "7": "t",
};

/**
 * True if nothing is left of a password when case, spaces and an ending such as `1!` are ignored and the most common words (also as
 * `p4$$w0rd`), keyboard walks, years and repetitions are taken out. A password with even one other character is not common.
 */
export function isCommonPassword(password: string): boolean {
  const typed = password.toLowerCase();
  const text = typed.replace(/\s+/g, "");
  const bare = text.replace(/\d{0,2}[!?.*#]?$/, "");
  return PHRASES.has(typed) || isRepetition(text) || [text, text.slice(0, -1), bare].some(isMadeOfCommonParts);
}

/** One to five characters over and over, the last round possibly cut short. */
function isRepetition(text: string): boolean {
  return [1, 2, 3, 4, 5].some((period) =>
    [...text].every((character, index, all) => character === all[index % period]),
  );
}

function isMadeOfCommonParts(text: string): boolean {
  const plain = text.replace(/[@4031$57]/g, (character) => LOOKALIKES[character] ?? character);
  const reachable = [true];
  for (let start = 0; start < text.length; start++) {
    if (!reachable[start]) continue;
    for (let end = start + SHORTEST_PART; end <= Math.min(text.length, start + LONGEST_PART); end++) {
      const part = text.slice(start, end);
      reachable[end] ||= WORDS.has(part) || WORDS.has(plain.slice(start, end)) || isRun(part);
    }
  }
  return reachable[text.length] === true;
}

/** A walk, one character repeated, or a year. */
function isRun(part: string): boolean {
  return /^(.)\1+$/.test(part) || /^(19|20)\d\d$/.test(part) || WALKS.some((walk) => walk.includes(part));
}
