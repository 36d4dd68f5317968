import { randomBytes } from 'node:crypto'
import { AppError } from '../../core/error.ts'

/** The kinds of frames that there are. Source: RFC 6455, section 5.2. */
export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface Frame {
  isLast: boolean
  opcode: number
  payload: Buffer
}

const LONGEST_CONTROL = 125
const MASK_BYTES = 4

const broken = (what: string) => new AppError('upstream', `the connection does not speak WebSocket: ${what}`)

/** Parts what comes from a server into frames, however it was cut on its way. */
export class FrameReader {
  private waiting: Buffer = Buffer.alloc(0)

  /** @param mostBytes a longer frame is refused before it came */
  constructor(private readonly mostBytes: number) {}

  /** The frames that are whole by now. Fails with `upstream` at what is no frame of a server's, and at one that is too long. */
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
    if (head.length > this.mostBytes) throw broken(`a message of more than ${this.mostBytes} bytes`)
    const end = head.at + head.length
    if (waiting.length < end) return null
    this.waiting = waiting.subarray(end)
    return { isLast: head.isLast, opcode: head.opcode, payload: waiting.subarray(head.at, end) }
  }
}

interface Head {
  isLast: boolean
  opcode: number
  /** Of the payload. */
  length: number
  /** Where the payload begins. */
  at: number
}

/** Null while it has not come whole. */
function headOf(bytes: Buffer): Head | null {
  const [first, second] = bytes
  if (first === undefined || second === undefined) return null
  const opcode = first & 0x0f
  if ((first & 0x70) !== 0) throw broken('bits that nobody asked for')
  if ((second & 0x80) !== 0) throw broken('a masked frame')
  const isLast = (first & 0x80) !== 0
  const short = second & 0x7f
  if (opcode >= OPCODES.close && (short > LONGEST_CONTROL || !isLast)) throw broken('a control frame in parts')
  const at = short === 126 ? 4 : short === 127 ? 10 : 2
  if (bytes.length < at) return null
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
  return { isLast, opcode, length, at }
}

/** One whole frame of a client, masked as it has to be. */
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

/** Joins the parts of messages. */
export class MessageReader {
  private parts: Buffer[] = []
  private size = 0

  constructor(private readonly mostBytes: number) {}

  /** The text when this frame ends one; null when more of it follows. Fails with `upstream` at what is no text in UTF-8. */
  read({ isLast, opcode, payload }: Frame): string | null {
    const continues = this.parts.length > 0
    if (continues !== (opcode === OPCODES.continuation)) throw broken('messages within each other')
    if (opcode !== OPCODES.text && !continues) throw broken('a message that is no text')
    this.parts.push(payload)
    this.size += payload.length
    if (this.size > this.mostBytes) throw broken(`a message of more than ${this.mostBytes} bytes`)
    if (!isLast) return null
    const whole = Buffer.concat(this.parts)
    this.parts = []
    this.size = 0
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(whole)
    } catch {
      throw broken('a message that is no UTF-8')
    }
  }
}
