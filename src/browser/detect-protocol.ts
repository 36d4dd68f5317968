/** Protocol of a connection through the proxy, detected from its first bytes. */
export type DetectedProtocol =
  /** TLS, with the protocols that the client offers (ALPN). */
  | { kind: 'tls'; protocols: readonly string[] }
  /** Plain HTTP, with the target of the first request. */
  | { kind: 'http'; target: string }
  | { kind: 'other' }

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const ALPN = 16
const RECORD_HEAD_BYTES = 5
/** Maximum length of a first message in bytes. Longer messages are not parsed. */
const MAX_BYTES = 64 * 1024

/** Returns the protocol of a connection that begins with these bytes; null when more bytes are needed. */
export function detectProtocol(bytes: Buffer): DetectedProtocol | null {
  if (bytes.length === 0) return null
  if (bytes.length > MAX_BYTES) return { kind: 'other' }
  return bytes[0] === HANDSHAKE ? tlsIn(bytes) : httpIn(bytes)
}

function httpIn(bytes: Buffer): DetectedProtocol | null {
  const end = bytes.indexOf('\r\n')
  if (end === -1) return null
  const [, target, version] = bytes.subarray(0, end).toString('latin1').split(' ')
  return target && version?.startsWith('HTTP/') ? { kind: 'http', target } : { kind: 'other' }
}

/** RFC 8446, sections 4.1.2 and 5.1; RFC 7301, section 3.1. */
function tlsIn(bytes: Buffer): DetectedProtocol | null {
  const records: Buffer[] = []
  let hello = Buffer.alloc(0)
  for (let at = 0; ; ) {
    if (bytes.length < at + RECORD_HEAD_BYTES) return null
    const end = at + RECORD_HEAD_BYTES + bytes.readUInt16BE(at + 3)
    if (bytes[at] !== HANDSHAKE) return { kind: 'other' }
    if (bytes.length < end) return null
    records.push(bytes.subarray(at + RECORD_HEAD_BYTES, end))
    hello = Buffer.concat(records)
    if (hello.length >= 4 && hello.length >= 4 + hello.readUIntBE(1, 3)) break
    at = end
  }
  if (hello[0] !== CLIENT_HELLO) return { kind: 'other' }
  try {
    return { kind: 'tls', protocols: protocolsOf(new Reader(hello.subarray(4))) }
  } catch {
    return { kind: 'other' }
  }
}

function protocolsOf(hello: Reader): string[] {
  // Skips the version and the random bytes. The session id, cipher suites and compression methods follow.
  hello.advance(34)
  hello.block(1)
  hello.block(2)
  hello.block(1)
  const extensions = hello.block(2)
  while (!extensions.isAtEnd) {
    const type = extensions.number(2)
    const body = extensions.block(2)
    if (type !== ALPN) continue
    const names = body.block(2)
    const protocols: string[] = []
    while (!names.isAtEnd) protocols.push(names.block(1).text)
    return protocols
  }
  return []
}

/** Reads numbers and length-prefixed blocks. Throws a `RangeError` when a read exceeds the available bytes. */
class Reader {
  private at = 0

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length
  }

  get text(): string {
    return this.bytes.toString('latin1')
  }

  number(size: 1 | 2): number {
    const value = this.bytes.readUIntBE(this.at, size)
    this.at += size
    return value
  }

  advance(size: number): void {
    this.at += size
  }

  block(sizeOfLength: 1 | 2): Reader {
    const length = this.number(sizeOfLength)
    const from = this.at
    this.advance(length)
    if (this.at > this.bytes.length) throw new RangeError('it is truncated')
    return new Reader(this.bytes.subarray(from, this.at))
  }
}
