/**
 * A security key in software, as an agent that clients ask for signatures (OpenSSH's PROTOCOL.u2f and PROTOCOL.agent): it says of its owner
 * what it is told to say. For trials only: who holds it is nobody.
 */

import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { chmodSync } from "node:fs";
import { createServer, type Socket } from "node:net";

const TYPE = "sk-ssh-ed25519@openssh.com";
const APPLICATION = "ssh:";

/** What a signature says of the key's owner, by bits of its flags. */
export const PRESENT = 1;
export const VERIFIED = 4;

const FAILURE = 5;
const LIST = 11;
const LISTED = 12;
const SIGN = 13;
const SIGNED = 14;

export interface Authenticator {
  /** As a key file has it: type and base64. */
  readonly type: string;
  readonly base64: string;
  readonly close: () => void;
}

/** Answers on a socket at that path, which only this account may use; every signature says `flags` of the owner. */
export async function startAuthenticator(path: string, flags: number): Promise<Authenticator> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const point = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const blob = Buffer.concat([text(TYPE), text(point), text(APPLICATION)]);
  let counter = 0;
  const signature = (data: Buffer): Buffer => {
    const said = Buffer.concat([Buffer.from([flags]), number(++counter)]);
    const signed = sign(null, Buffer.concat([hash(APPLICATION), said, hash(data)]), privateKey);
    return Buffer.concat([text(TYPE), text(signed), said]);
  };
  const answerTo = (message: Buffer): Buffer => {
    if (message[0] === LIST) return Buffer.concat([Buffer.from([LISTED]), number(1), text(blob), text("uam-try")]);
    if (message[0] !== SIGN) return Buffer.from([FAILURE]);
    const data = message.subarray(1 + 4 + message.readUInt32BE(1));
    return Buffer.concat([Buffer.from([SIGNED]), text(signature(data.subarray(4, 4 + data.readUInt32BE(0))))]);
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    let heard = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk]);
      while (heard.length >= 4 && heard.length >= 4 + heard.readUInt32BE(0)) {
        const end = 4 + heard.readUInt32BE(0);
        socket.write(text(answerTo(heard.subarray(4, end))));
        heard = heard.subarray(end);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    type: TYPE,
    base64: blob.toString("base64"),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** With its length before it, as every part of such a message has. */
function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.length), bytes]);
}

function hash(value: string | Buffer): Buffer {
  return createHash("sha256").update(value).digest();
}
