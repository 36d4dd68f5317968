import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import type { Clock } from '../../core/clock.ts'

/** A message that a channel delivered. */
export interface InboxMessage {
  id: string
  at: number
  via: 'e-mail' | 'webhook'
  title: string
  text: string
}

/** A real mail server and a webhook receiver on loopback. They store the messages that they receive. */
export interface Inbox {
  smtpUrl: string
  webhookUrl: string
  /** Newest first, at most 100. */
  messages(): readonly InboxMessage[]
  close(): Promise<void>
}

const KEPT = 100

export async function openInbox(clock: Clock, received: (message: InboxMessage) => void): Promise<Inbox> {
  const messages: InboxMessage[] = []
  const keep = (message: Omit<InboxMessage, 'at'>) => {
    const whole = { ...message, at: clock.now() }
    messages.unshift(whole)
    messages.length = Math.min(messages.length, KEPT)
    received(whole)
  }
  const mail = await listenForMail(keep)
  const web = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as { type: string; data: { issue?: { title: string } } }
      keep({
        id: request.headers.get('webhook-id') ?? '',
        via: 'webhook',
        title: `${body.type}: ${body.data.issue?.title ?? ''}`,
        text: JSON.stringify(body, null, 2),
      })
      return new Response('ok')
    },
  })
  const { port } = mail.server.address() as AddressInfo
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    webhookUrl: `http://127.0.0.1:${web.port}/`,
    messages: () => messages,
    async close() {
      await web.stop(true)
      await new Promise<void>((resolve) => mail.close(resolve))
    },
  }
}

async function listenForMail(keep: (message: Omit<InboxMessage, 'at'>) => void): Promise<SMTPServer> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onData(stream, _session, done) {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', async () => {
        const { messageId = '', subject = '', text = '' } = await PostalMime.parse(Buffer.concat(parts))
        keep({ id: messageId, via: 'e-mail', title: subject, text })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
