import { randomBytes } from 'node:crypto'
import { AppError } from '../core/error.ts'

/** Frame types. Source: RFC 6455, section 5.2. */
export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface Frame {
  isLast: boolean
  opcode: number
  payload: Buffer
}

const LONGEST_CONTROL = 125
const MASK_BYTES = 4

const broken = (what: string) => new AppError('upstream', `WebSocket protocol error: ${what}`)

/** Splits a byte stream from a server into frames. */
export class FrameReader {
  private waiting: Buffer = Buffer.alloc(0)

  /** @param maxBytes Maximum length of a frame. Longer frames are rejected before their payload is received. */
  constructor(private readonly maxBytes: number) {}

  /** Returns the frames completed by this chunk. Fails with `upstream` if a frame is invalid or too long. */
  read(chunk: Buffer): Frame[] {
    this.waiting = this.waiting.length === 0 ? chunk : Buffer.concat([this.waiting, chunk])
    const frames: Frame[] = []
    for (let frame = this.next(); frame; frame = this.next()) frames.push(frame)
    return frames
  }

  private next(): Frame | null {
    const { waiting } = this
    const head = headOf(waiting)
    if (!head) return null
    if (head.length > this.maxBytes) throw broken(`a message of more than ${this.maxBytes} bytes`)
    const end = head.at + head.length
    if (waiting.length < end) return null
    this.waiting = waiting.subarray(end)
    return { isLast: head.isLast, opcode: head.opcode, payload: waiting.subarray(head.at, end) }
  }
}

interface Head {
  isLast: boolean
  opcode: number
  /** Length of the payload. */
  length: number
  /** Offset of the payload. */
  at: number
}

/** Parses a frame header. Null until the header is complete. */
function headOf(bytes: Buffer): Head | null {
  const [first, second] = bytes
  if (first === undefined || second === undefined) return null
  const opcode = first & 0x0f
  if ((first & 0x70) !== 0) throw broken('unexpected reserved bits')
  if ((second & 0x80) !== 0) throw broken('a masked frame')
  const isLast = (first & 0x80) !== 0
  const short = second & 0x7f
  if (opcode >= OPCODES.close && (short > LONGEST_CONTROL || !isLast)) throw broken('an invalid control frame')
  const at = short === 126 ? 4 : short === 127 ? 10 : 2
  if (bytes.length < at) return null
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
  return { isLast, opcode, length, at }
}

/** Encodes a complete client frame, which is masked. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(MASK_BYTES)
  const { length } = payload
  const extra = length < 126 ? Buffer.alloc(0) : Buffer.alloc(length < 65_536 ? 2 : 8)
  if (extra.length === 2) extra.writeUInt16BE(length)
  if (extra.length === 8) extra.writeBigUInt64BE(BigInt(length))
  const short = extra.length === 0 ? length : extra.length === 2 ? 126 : 127
  const masked = payload.map((byte, index) => byte ^ (mask[index % MASK_BYTES] ?? 0))
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | short]), extra, mask, masked])
}

/** Assembles messages from frames. */
export class MessageReader {
  private parts: Buffer[] = []
  private size = 0

  constructor(private readonly maxBytes: number) {}

  /**
   * Returns the text if this frame completes a message, otherwise null. Fails with `upstream` if the message is not
   * valid UTF-8 text.
   */
  read({ isLast, opcode, payload }: Frame): string | null {
    const continues = this.parts.length > 0
    if (continues !== (opcode === OPCODES.continuation)) throw broken('interleaved messages')
    if (opcode !== OPCODES.text && !continues) throw broken('a binary message')
    this.parts.push(payload)
    this.size += payload.length
    if (this.size > this.maxBytes) throw broken(`a message of more than ${this.maxBytes} bytes`)
    if (!isLast) return null
    const whole = Buffer.concat(this.parts)
    this.parts = []
    this.size = 0
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(whole)
    } catch {
      throw broken('a message that is not valid UTF-8')
    }
  }
}
