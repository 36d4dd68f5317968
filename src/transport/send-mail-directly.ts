import { randomUUID } from 'node:crypto'
import { escapeHtml } from '../core/text.ts'
import { type MailOutbound, SEND_TIMEOUT_MS, type Transport } from './transport.ts'

interface PlainMailDeps {
  transport: Transport
  /** Called when an e-mail could not be sent. */
  warn(message: string): void
}

/** Returns a function that sends an e-mail in the background without using the outbox. It makes a single attempt. */
export function plainMail({ transport, warn }: PlainMailDeps): (to: string, subject: string, text: string) => void {
  return (to, subject, text) => {
    const html = `<pre style="font: inherit; white-space: pre-wrap">${escapeHtml(text)}</pre>`
    const mail: MailOutbound = {
      kind: 'mail',
      to: [to],
      subject,
      text,
      html,
      messageId: randomUUID(),
      threadId: null,
    }
    void transport.send(mail, AbortSignal.timeout(SEND_TIMEOUT_MS)).then((reply) => {
      if (reply.kind === 'error') warn(`the e-mail "${subject}" could not be sent: ${reply.message}`)
    })
  }
}
