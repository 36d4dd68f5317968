import { randomUUID } from 'node:crypto'
import type { MailDocument } from '../mail/mail-document.ts'
import { renderMail } from '../mail/render-mail.ts'
import { type MailOutbound, SEND_TIMEOUT_MS, type Transport } from './transport.ts'

interface DirectMailDeps {
  transport: Transport
  /** Called when an e-mail could not be sent. */
  warn(message: string): void
}

/** Sends an e-mail in the background and handles failures. */
export type SendMail = (to: string, document: MailDocument) => void

/** Returns a function that sends e-mails without using the outbox. It makes a single attempt. */
export function directMail({ transport, warn }: DirectMailDeps): SendMail {
  return (to, document) => {
    const mail: MailOutbound = {
      kind: 'mail',
      to: [to],
      ...renderMail(document),
      messageId: randomUUID(),
      threadId: null,
    }
    void transport.send(mail, AbortSignal.timeout(SEND_TIMEOUT_MS)).then((reply) => {
      if (reply.kind === 'error') warn(`the e-mail "${document.subject}" could not be sent: ${reply.message}`)
    })
  }
}
