import { randomUUID } from 'node:crypto'
import { escapeHtml } from '../message/mail-theme.ts'
import { type MailOutbound, SEND_TIMEOUT_MS, type Transport } from './transport.ts'

export interface PlainMailDeps {
  transport: Transport
  /** Told when a mail did not go. */
  warn(message: string): void
}

/** Sends a letter that is no notification: one attempt, nobody waits for it. */
export function plainMail({ transport, warn }: PlainMailDeps): (to: string, subject: string, text: string) => void {
  return (to, subject, text) => {
    const html = `<pre style="font: inherit; white-space: pre-wrap">${escapeHtml(text)}</pre>`
    const letter: MailOutbound = {
      kind: 'mail',
      to: [to],
      subject,
      text,
      html,
      messageId: randomUUID(),
      threadId: null,
    }
    void transport.send(letter, AbortSignal.timeout(SEND_TIMEOUT_MS)).then((reply) => {
      if (reply.kind === 'error') warn(`the mail "${subject}" did not go: ${reply.message}`)
    })
  }
}
