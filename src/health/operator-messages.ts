import type { Log, OperatorNotice } from '../base.ts'
import type { Config } from '../config.ts'
import { type Clock, type Instant, MINUTE_MS } from '../core/clock.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { enqueueOperatorNotice } from '../integrations/delivery/internal-outbox.ts'
import type { InternalChannelType } from '../integrations/providers/internal/internal-channel-types.ts'
import {
  operatorMailOf,
  operatorWebhookOf,
  type StoredNotice,
} from '../integrations/providers/internal/internal-channels.ts'
import { ensureInternalOrg } from '../org/internal-org.ts'
import type { Db } from '../store/database.ts'
import { type Outbound, SEND_TIMEOUT_MS, type Transport } from '../transport/transport.ts'

export interface OperatorMessagesDeps {
  config: Pick<Config, 'operatorMail' | 'smtpUrl' | 'operatorWebhookUrl'>
  clock: Clock
  log: Log
}

/** Dependencies for sending, which are available once the data folder is open. */
interface Outbox {
  db: Db
  box: SecretBox
  transport: Transport
  publicUrl: string
}

/** Maximum number of messages in memory while the database can't be written. Later ones are only logged. */
const MAX_UNWRITTEN = 100
/** Interval at which messages that can't be written are sent without the outbox. */
const DIRECT_EVERY_MS = MINUTE_MS

/**
 * Messages to the server's operator: written to the log, and sent through the outbox by mail and webhook. While the
 * database can't be written, for example because the disk is full, they are sent directly.
 */
export class OperatorMessages {
  private readonly unwritten: StoredNotice[] = []
  private outbox: Outbox | null = null
  private sentAt: Instant = Number.NEGATIVE_INFINITY

  constructor(private readonly parts: OperatorMessagesDeps) {}

  /** Channels that the operator has configured. */
  get channels(): readonly InternalChannelType[] {
    const { operatorMail, smtpUrl, operatorWebhookUrl } = this.parts.config
    const mail: readonly InternalChannelType[] = operatorMail !== '' && smtpUrl !== '' ? ['operator_mail'] : []
    return operatorWebhookUrl === '' ? mail : [...mail, 'operator_webhook']
  }

  /** Sends a message. Can be called before `connect`, and inside a transaction, whose rollback does not affect it. */
  notify({ subject, text }: OperatorNotice): void {
    const { clock, log } = this.parts
    log.warn(`${subject}. ${text}`)
    if (this.channels.length === 0 || this.unwritten.length >= MAX_UNWRITTEN) return
    this.unwritten.push({ subject, text, at: clock.now() })
    this.write()
  }

  /** Makes the outbox available, and moves the waiting messages there. */
  connect(outbox: Outbox): void {
    this.outbox = outbox
    this.write()
  }

  /** Must be called about every second. Sends the messages that could not be written to the outbox. */
  async flush(): Promise<void> {
    this.write()
    const { outbox } = this
    const now = this.parts.clock.now()
    if (!outbox || this.unwritten.length === 0 || Math.abs(now - this.sentAt) < DIRECT_EVERY_MS) return
    this.sentAt = now
    for (const notice of [...this.unwritten]) {
      if (!(await this.sendDirectly(notice, outbox))) return
      // Another call may have moved it to the outbox in the meantime.
      const at = this.unwritten.indexOf(notice)
      if (at >= 0) this.unwritten.splice(at, 1)
    }
  }

  private write(): void {
    const { outbox, parts, unwritten, channels } = this
    // A transaction of the caller could be rolled back, so the message is written by the next flush.
    if (!outbox || outbox.db.inTransaction) return
    try {
      if (unwritten.length > 0) ensureInternalOrg(outbox.db, outbox.box, parts.clock)
      for (let first = unwritten[0]; first; first = unwritten[0]) {
        enqueueOperatorNotice(outbox.db, first, channels)
        unwritten.shift()
      }
    } catch {
      // The next flush tries again. The disk is probably full, which the log reports elsewhere.
    }
  }

  /** Returns true if one of the channels accepted the message. */
  private async sendDirectly(notice: StoredNotice, { transport, publicUrl }: Outbox): Promise<boolean> {
    const { config, log } = this.parts
    const id = newId('dlv', notice.at)
    let isSent = false
    for (const type of this.channels) {
      const outbound: Outbound =
        type === 'operator_mail'
          ? operatorMailOf(notice, config.operatorMail, id)
          : operatorWebhookOf(notice, { url: config.operatorWebhookUrl, publicUrl }, id)
      const reply = await transport.send(outbound, AbortSignal.timeout(SEND_TIMEOUT_MS))
      if (reply.kind === 'status' && reply.status >= 200 && reply.status < 300) isSent = true
      else
        log.warn(
          `the message "${notice.subject}" could not be sent: ${reply.kind === 'error' ? reply.message : reply.status}`,
        )
    }
    return isSent
  }
}
