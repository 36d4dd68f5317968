import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import { clockText } from '../core/moment-text.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { RETRY_DELAYS_MS, retryDelayMs } from '../integrations/delivery/delivery.ts'
import type { Dispatcher } from '../integrations/delivery/dispatcher.ts'
import type { Lane } from '../integrations/delivery/lane-scheduler.ts'
import { type Outcome, outcomeOf } from '../integrations/delivery-outcome.ts'
import { updateIntegrationStatus } from '../integrations/store.ts'
import { renderMail } from '../mail/render-mail.ts'
import type { Db } from '../store/database.ts'
import type { MailOutbound } from '../transport/transport.ts'
import { buildDigest } from './build-digest.ts'
import type { DigestComposer } from './digest-composer.ts'
import { type DigestFacts, hasData } from './digest-facts.ts'
import { type DueRecipient, dueRecipients, type Recipient, recipients } from './digest-recipients.ts'
import { isWeekly } from './digest-schedule.ts'
import { dueMails, finishMail, keyOf, messageIdOf, type PendingMail, startMail } from './store.ts'
import { UNSUBSCRIBE_PATH, unsubscribeToken } from './unsubscribe.ts'

interface DigestSenderDeps {
  db: Db
  box: SecretBox
  composer: DigestComposer
  dispatcher: Dispatcher
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  warn(message: string): void
}

/** Headers for the unsubscribe button of mail clients (RFC 2369; RFC 8058, section 3.1). */
const oneClick = (url: string) => ({
  'List-Unsubscribe': `<${url}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

/** Maximum number of mails per query. */
const AT_ONCE = 200
const UNSUBSCRIBED = 'the recipient has unsubscribed'
/** Longest delay between attempts, including jitter. */
const MAX_WAIT_MS = 2 * Math.max(...RETRY_DELAYS_MS)

/** Sends due digests, once per recipient and day. One instance per process. */
export class DigestSender {
  private readonly inFlight = new Map<string, Promise<unknown>>()

  constructor(private readonly deps: DigestSenderDeps) {}

  /**
   * Starts due digests, and sends started digests while slots are free. Waits for queries, but not for the mail server.
   */
  async run(stopping?: AbortSignal): Promise<void> {
    const { db, dispatcher } = this.deps
    const { mailConfigured, clock } = dispatcher.deps
    // Without a mail server, no digest is started. A due digest is still sent if a mail server is configured within the
    // two-hour period.
    if (!mailConfigured) return
    for (const [orgId, due] of Map.groupBy(dueRecipients(db, clock.now()), ({ orgId }) => orgId)) {
      if (stopping?.aborted) return
      await this.startDue(orgId, due)
    }
    await this.sendSome(stopping)
  }

  private async startDue(orgId: string, due: readonly DueRecipient[]): Promise<void> {
    const { db, dispatcher } = this.deps
    const facts = await this.factsOf(
      orgId,
      due.some((reader) => reader.isWeekly),
    )
    if (!facts) return
    const happened = hasData(facts)
    for (const reader of due) if (happened || reader.isWeekly) startMail(db, reader, dispatcher.deps.clock.now())
  }

  /** Null if the facts are unavailable; the next run retries. */
  private async factsOf(orgId: string, isWeekly: boolean): Promise<DigestFacts | null> {
    try {
      return await this.deps.composer.factsOf(orgId, isWeekly)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (!this.deps.dispatcher.stopping.aborted) this.deps.warn(`${messageOf(error)} (organization ${orgId})`)
      return null
    }
  }

  /** Waits for a slot only while the sender's own mails occupy slots, so that other deliveries are not starved. */
  private async sendSome(stopping?: AbortSignal): Promise<void> {
    const { db, dispatcher } = this.deps
    const { clock } = dispatcher.deps
    for (let more = true; more; ) {
      const waiting = dueMails(db, clock.now(), MAX_WAIT_MS, AT_ONCE).filter((one) => !this.inFlight.has(keyOf(one)))
      if (waiting.length === 0) return
      const byKey = new Map(recipients(db).map((reader) => [`${reader.orgId} ${reader.reader}`, reader]))
      more = false
      for (const mail of waiting) {
        const lane: Lane = { orgId: mail.orgId, kind: 'mail', origin: '' }
        while (!dispatcher.hasRoom(lane) && this.inFlight.size > 0) await Promise.race(this.inFlight.values())
        const reader = byKey.get(`${mail.orgId} ${mail.reader}`)
        const facts = reader && dispatcher.hasRoom(lane) ? await this.factsOf(mail.orgId, isWeekly(mail.day)) : null
        if (stopping?.aborted || dispatcher.stopping.aborted) return
        if (!reader) this.finish(mail, { verdict: 'broken', reason: UNSUBSCRIBED })
        else if (facts) this.start(mail, reader, { facts, lane })
        more ||= !reader || facts !== null
      }
    }
  }

  private start(mail: PendingMail, reader: Recipient, { facts, lane }: { facts: DigestFacts; lane: Lane }): void {
    const { dispatcher } = this.deps
    const key = keyOf(mail)
    const sending = dispatcher.track(lane, async (ended) => {
      const outbound = this.letter(mail, reader, facts)
      const reply = await dispatcher.deps.transport.send(outbound, dispatcher.stopping)
      ended(reply.kind === 'error' && reply.hung === true)
      const outcome = outcomeOf(outbound, reply, dispatcher.deps.clock.now())
      const isStopped = outcome.verdict !== 'delivered' && dispatcher.stopping.aborted
      if (!isStopped) await this.record(mail, reader, outcome)
    })
    const finished = sending
      .catch((error) => dispatcher.deps.report(error, 'digest'))
      .finally(() => this.inFlight.delete(key))
    this.inFlight.set(key, finished)
  }

  /** Uses the same Message-ID for every attempt, including after a crash. */
  private letter(mail: PendingMail, reader: Recipient, facts: DigestFacts): MailOutbound {
    const { box, publicUrl } = this.deps
    const { address, context, hourUtc, unsubscription } = reader
    const unsubscribeUrl = `${publicUrl}${UNSUBSCRIBE_PATH}?t=${unsubscribeToken(box, unsubscription)}`
    const hour = clockText(mail.day * DAY_MS + hourUtc * HOUR_MS, facts.timezone)
    const because = `You receive this daily after ${hour} if there was activity, and every Monday.`
    const document = buildDigest(facts, { context, publicUrl, unsubscribeUrl, because })
    return {
      kind: 'mail',
      to: [address],
      ...renderMail(document),
      messageId: messageIdOf(mail),
      threadId: null,
      headers: oneClick(unsubscribeUrl),
    }
  }

  /** Retries failed writes, so that a sent mail is not sent again. */
  private record(mail: PendingMail, { integrationId }: Recipient, outcome: Outcome): Promise<void> {
    const { db, dispatcher } = this.deps
    return dispatcher.writeWithRetry(() => {
      this.finish(mail, outcome)
      updateIntegrationStatus(db, integrationId, outcome)
    }, 'digest')
  }

  private finish(mail: PendingMail, outcome: Outcome): void {
    const { db, dispatcher, warn } = this.deps
    const { clock, jitter } = dispatcher.deps
    const now = clock.now()
    const attempts = mail.attempts + 1
    if (outcome.verdict === 'delivered') {
      return finishMail(db, mail, { status: 'sent', attempts, dueAt: now, lastError: outcome.note })
    }
    if (outcome.verdict === 'stopped' || outcome.verdict === 'wait') return
    const { reason } = outcome
    const delayMs = outcome.verdict === 'retry' ? retryDelayMs(attempts, outcome.retryAfterMs, jitter()) : null
    if (delayMs === null && reason !== UNSUBSCRIBED) warn(`a digest was not delivered: ${reason}`)
    const status = delayMs === null ? 'failed' : 'pending'
    finishMail(db, mail, { status, attempts, dueAt: now + (delayMs ?? 0), lastError: reason })
  }
}
