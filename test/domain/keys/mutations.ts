/** Deterministic damage to a valid key line: in its bytes, its base64, its words and its spaces. */

const TYPE_WORDS = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
  "sk-ssh-ed25519@openssh.com",
  "sk-ecdsa-sha2-nistp256@openssh.com",
  "webauthn-sk-ecdsa-sha2-nistp256@openssh.com",
  "rsa-sha2-256",
  "rsa-sha2-512",
  "ssh-dss",
  "ssh-rsa-cert-v01@openssh.com",
  "RSA",
  "rsa",
  "ED25519",
  "ed25519-sk",
  "ECDSA",
  "ECDSA-SK",
];
const NOISE = ["=", "-", "_", ".", "A", "/", "\r", "\v", "\f", "\t", " ", "\0", "\u00a0", "\u200b", "%", '"', "\\"];

/** About a hundred damaged forms of `line` (`<type> <base64>`), always the same for the same line; none holds a newline. */
export function mutations(line: string): readonly string[] {
  const [type = "", base64 = ""] = line.split(" ");
  const blob = Buffer.from(base64, "base64");
  const random = generator(blob);
  const ofBlob = [...damagedBytes(blob, random), ...damagedFields(blob)];
  const ofText = Array.from({ length: 24 }, () => damagedText(base64, random));
  const words = TYPE_WORDS.flatMap((word) => [`${word} ${base64}`, `${type} ${withType(blob, word)}`]);
  return [
    ...ofBlob.map((bytes) => `${type} ${bytes.toString("base64")}`),
    ...ofText.map((text) => `${type} ${text}`),
    ...words,
    ...damagedLines(type, base64),
  ];
}

function damagedBytes(blob: Buffer, random: (below: number) => number): readonly Buffer[] {
  const flipped = Array.from({ length: 24 }, () => {
    const copy = Buffer.from(blob);
    const at = random(blob.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
    return copy;
  });
  const cut = Array.from({ length: 10 }, () => blob.subarray(0, random(blob.length)));
  const longer = [Buffer.of(0), Buffer.of(0, 0, 0, 0), Buffer.of(0, 0, 0, 1, 65), blob].map((tail) =>
    Buffer.concat([blob, tail]),
  );
  return [...flipped, ...cut, blob.subarray(0, -1), Buffer.alloc(0), ...longer];
}

/** For each field: its length changed, and a byte put in front of it or behind it, or taken away, with the right length. */
function damagedFields(blob: Buffer): readonly Buffer[] {
  return fieldOffsets(blob).flatMap((offset) => {
    const length = blob.readUInt32BE(offset);
    const body = blob.subarray(offset + 4, offset + 4 + length);
    const replaced = (field: Buffer, claimed = field.length): Buffer => {
      const size = Buffer.alloc(4);
      size.writeUInt32BE(claimed);
      return Buffer.concat([blob.subarray(0, offset), size, field, blob.subarray(offset + 4 + length)]);
    };
    const lengths = [0, length - 1, length + 1, 0x7fffffff, 0xffffffff].map((claimed) => replaced(body, claimed));
    const bodies = [
      Buffer.concat([Buffer.of(0), body]),
      Buffer.concat([body, Buffer.of(0)]),
      Buffer.concat([body, Buffer.of(10)]),
      body.subarray(1),
      body.subarray(0, -1),
      Buffer.alloc(0),
      Buffer.alloc(length),
      Buffer.alloc(length, 0xff),
      Buffer.alloc(length, 0x7f),
      Buffer.of(1),
      Buffer.of(4),
    ];
    return [...lengths, ...bodies.map((field) => replaced(field))];
  });
}

function damagedText(base64: string, random: (below: number) => number): string {
  const at = random(base64.length);
  const noise = NOISE[random(NOISE.length)] ?? "";
  const skip = random(3);
  return base64.slice(0, at) + noise + base64.slice(at + skip);
}

function damagedLines(type: string, base64: string): readonly string[] {
  const line = `${type} ${base64}`;
  const blanks = [` ${line}`, `\t${line}`, `${line} `, `${line}\t`, `${type}  ${base64}`, `${type}\t${base64}`];
  const others = [
    `${line}\r`,
    `${type}${base64}`,
    `${type}\u00a0${base64}`,
    `\u00a0${line}`,
    `\ufeff${line}`,
    `${line}\0`,
  ];
  const fronts = [
    "no-pty",
    'command="a b"',
    'command="a \\" b"',
    "host,other",
    "7",
    "12 65537",
    '"',
    "#",
    "@revoked *",
  ];
  const comments = ["c", "# c", "a\rb", "a\vb", "a\u2028b", "a\u0085b", "a\u001bb", "PRIVATE KEY", "ssh-rsa AAAA", "é"];
  return [
    ...blanks,
    ...others,
    ...fronts.map((front) => `${front} ${line}`),
    ...comments.map((comment) => `${line} ${comment}`),
    ...[1, 2, 3].map((n) => line.slice(0, -n)),
    `${line}=`,
    `${line}A`,
    base64,
    type,
  ];
}

function withType(blob: Buffer, name: string): string {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(name.length);
  return Buffer.concat([size, Buffer.from(name), blob.subarray(4 + blob.readUInt32BE(0))]).toString("base64");
}

function fieldOffsets(blob: Buffer): readonly number[] {
  const offsets: number[] = [];
  for (let offset = 0; offset < blob.length; offset += 4 + blob.readUInt32BE(offset)) offsets.push(offset);
  return offsets;
}

/** Numbers below a bound, from a seed: xorshift32 over the sum of the bytes. */
function generator(seed: Buffer): (below: number) => number {
  let state = seed.reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 1) || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}
