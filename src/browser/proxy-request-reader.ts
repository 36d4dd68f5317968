import { AppError } from '../core/error.ts'
import type { Proxy as OutboundProxy } from '../transport/outbound-connection.ts'

/** A part of the data that a browser sends to its HTTP proxy. */
export type RequestPart =
  /** A request for a tunnel. `rest` and all bytes after it belong to the tunnel. */
  | { kind: 'tunnel'; url: URL; rest: Buffer }
  /** The headers of a plain request. */
  | { kind: 'head'; url: URL; headFor(outboundProxy: OutboundProxy | null): string }
  /** A part of the request's body. */
  | { kind: 'body'; bytes: Buffer }

const END = '\r\n\r\n'
/** Maximum length of the headers. Chromium does not send longer headers. */
const MAX_HEAD_BYTES = 512 * 1024

/**
 * Parses the data that a browser sends to its HTTP proxy (RFC 9112, sections 3.2.2 and 3.2.3), regardless of how the
 * data is fragmented.
 */
export class RequestReader {
  private waiting: Buffer = Buffer.alloc(0)
  /** Number of body bytes that have not been received yet. */
  private bodyLeft = 0

  /** Returns the parts that are complete. Throws `invalid` when the data is not a request to a proxy. */
  read(chunk: Buffer): RequestPart[] {
    const parts: RequestPart[] = []
    let rest = this.waiting.length === 0 ? chunk : Buffer.concat([this.waiting, chunk])
    this.waiting = Buffer.alloc(0)
    while (rest.length > 0) {
      if (this.bodyLeft > 0) {
        const bytes = rest.subarray(0, this.bodyLeft)
        this.bodyLeft -= bytes.length
        rest = rest.subarray(bytes.length)
        parts.push({ kind: 'body', bytes })
        continue
      }
      const end = rest.indexOf(END)
      if (end === -1) {
        if (rest.length > MAX_HEAD_BYTES) throw new AppError('invalid', 'the request headers are too long')
        this.waiting = rest
        break
      }
      const [requestLine = '', ...fields] = rest.subarray(0, end).toString('latin1').split('\r\n')
      rest = rest.subarray(end + END.length)
      const part = this.begin(requestLine, fields, rest)
      parts.push(part)
      if (part.kind === 'tunnel') break
    }
    return parts
  }

  private begin(requestLine: string, fields: readonly string[], rest: Buffer): RequestPart {
    const [method = '', target = '', version] = requestLine.split(' ')
    const url = URL.parse(method === 'CONNECT' ? `http://${target}/` : target)
    if (version !== 'HTTP/1.1' || url?.protocol !== 'http:') {
      throw new AppError('invalid', 'not a request to a proxy')
    }
    if (method === 'CONNECT') return { kind: 'tunnel', url, rest }
    this.bodyLeft = bodyLength(fields)
    const passed = fields.filter((field) => !/^proxy-/i.test(field))
    return { kind: 'head', url, headFor: (proxy) => headOf(method, target, passed, proxy) }
  }
}

function bodyLength(fields: readonly string[]): number {
  const fieldOf = (name: string) => {
    const field = fields.find((one) => one.toLowerCase().startsWith(`${name}:`))
    return field?.slice(name.length + 1).trim()
  }
  // The end of the body need not be detected, because no other request follows on this connection.
  if (fieldOf('transfer-encoding') !== undefined) return Number.POSITIVE_INFINITY
  return Number(fieldOf('content-length') ?? 0)
}

/** Returns the request headers to send. A host receives only the path, but another proxy receives the whole URL. */
function headOf(method: string, target: string, fields: readonly string[], proxy: OutboundProxy | null): string {
  const path = target.replace(/^http:\/\/[^/?#]*/i, '')
  const asked = proxy ? target : path.startsWith('/') ? path : `/${path}`
  const login = proxy?.authorization ? [`Proxy-Authorization: ${proxy.authorization}`] : []
  return [`${method} ${asked} HTTP/1.1`, ...fields, ...login].join('\r\n') + END
}
