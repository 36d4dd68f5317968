import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A request as received by a test receiver. */
export interface Received {
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

/** An HTTP server on the loopback address that records the requests it receives. It stops when disposed. */
export function receiver(
  answer: (request: Received, index: number) => Response | Promise<Response> = () => new Response('ok'),
  hostname = '127.0.0.1',
  port = 0,
) {
  const requests: Received[] = []
  const server = Bun.serve({
    hostname,
    port,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const received: Received = {
        method: request.method,
        path: pathname + search,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      }
      return answer(received, requests.push(received) - 1)
    },
  })
  return {
    requests,
    port: Number(server.port),
    url: `http://${hostname}:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

interface ReceivedMail {
  from: string
  to: string[]
  /** Headers and body as received. */
  source: string
}

/**
 * An SMTP server on the loopback address that records the e-mails it accepts. It does not support TLS and stops when
 * disposed.
 */
export async function mailbox(options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    ...options,
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString(),
        })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    mails,
    port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

/** Returns the error that makes a test SMTP server reject a command. */
export function smtpRefusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}
