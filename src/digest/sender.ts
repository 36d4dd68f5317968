import { AppError, messageOf } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { RETRY_DELAYS_MS, retryDelayMs } from '../integrations/delivery/delivery.ts'
import type { Dispatcher } from '../integrations/delivery/dispatcher.ts'
import type { Lane } from '../integrations/delivery/lane-scheduler.ts'
import { type Outcome, outcomeOf } from '../integrations/outcome.ts'
import { updateIntegrationStatus } from '../integrations/store.ts'
import type { MailOutbound } from '../integrations/transport/transport.ts'
import type { Db } from '../store/database.ts'
import { buildDigest } from './build-digest.ts'
import type { DigestComposer } from './composer.ts'
import { type DigestFacts, hasData } from './facts.ts'
import { type DueRecipient, dueRecipients, type Recipient, recipients } from './recipients.ts'
import { htmlOf } from './render-html.ts'
import { textOf } from './render-text.ts'
import { isWeekly } from './schedule.ts'
import { dueMails, finishMail, keyOf, messageIdOf, type PendingMail, startMail } from './store.ts'
import { UNSUBSCRIBE_PATH, unsubscribeToken } from './unsubscribe.ts'

export interface DigestSenderDeps {
  db: Db
  box: SecretBox
  composer: DigestComposer
  dispatcher: Dispatcher
  /** Address under which people reach the server, without a slash at its end. */
  publicUrl: string
  warn(message: string): void
}

/** RFC 2369 and RFC 8058, section 3.1: mail programs show a button of their own. */
const oneClick = (url: string) => ({
  'List-Unsubscribe': `<${url}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

/** Mails looked up at once. */
const AT_ONCE = 200
const GONE = 'nobody wants it any more'
/** With jitter, and what a mail server asks for. */
const LONGEST_WAIT_MS = 2 * Math.max(...RETRY_DELAYS_MS)

/** Sends the digests that are due, each once for a reader and day. One for each program. */
export class DigestSender {
  private readonly underWay = new Map<string, Promise<unknown>>()

  constructor(private readonly deps: DigestSenderDeps) {}

  /** Begins what is due and sends what was begun, as far as there are places; waits for the history, and for no mail server. */
  async run(stopping?: AbortSignal): Promise<void> {
    const { db, dispatcher } = this.deps
    const { mailConfigured, clock } = dispatcher.deps
    // Without a mail server nothing is begun, so that it is sent when there is one within its hours.
    if (!mailConfigured) return
    for (const [orgId, due] of Map.groupBy(dueRecipients(db, clock.now()), ({ orgId }) => orgId)) {
      if (stopping?.aborted) return
      await this.begin(orgId, due)
    }
    await this.sendSome(stopping)
  }

  private async begin(orgId: string, due: readonly DueRecipient[]): Promise<void> {
    const { db, dispatcher } = this.deps
    const facts = await this.factsOf(
      orgId,
      due.some((reader) => reader.isWeekly),
    )
    if (!facts) return
    const happened = hasData(facts)
    for (const reader of due) if (happened || reader.isWeekly) startMail(db, reader, dispatcher.deps.clock.now())
  }

  /** Null when they are not to be had now: the next run asks again. */
  private async factsOf(orgId: string, isWeekly: boolean): Promise<DigestFacts | null> {
    try {
      return await this.deps.composer.factsOf(orgId, isWeekly)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (!this.deps.dispatcher.stopping.aborted) this.deps.warn(`${messageOf(error)} (organization ${orgId})`)
      return null
    }
  }

  /** Waits for a place as long as its own mails take one: others get theirs as well. */
  private async sendSome(stopping?: AbortSignal): Promise<void> {
    const { db, dispatcher } = this.deps
    const { clock } = dispatcher.deps
    for (let more = true; more; ) {
      const waiting = dueMails(db, clock.now(), LONGEST_WAIT_MS, AT_ONCE).filter(
        (one) => !this.underWay.has(keyOf(one)),
      )
      if (waiting.length === 0) return
      const byKey = new Map(recipients(db).map((reader) => [`${reader.orgId} ${reader.reader}`, reader]))
      more = false
      for (const mail of waiting) {
        const way: Lane = { orgId: mail.orgId, kind: 'mail', origin: '' }
        while (!dispatcher.hasRoom(way) && this.underWay.size > 0) await Promise.race(this.underWay.values())
        const reader = byKey.get(`${mail.orgId} ${mail.reader}`)
        const facts = reader && dispatcher.hasRoom(way) ? await this.factsOf(mail.orgId, isWeekly(mail.day)) : null
        if (stopping?.aborted || dispatcher.stopping.aborted) return
        if (!reader) this.settle(mail, { verdict: 'broken', reason: GONE })
        else if (facts) this.start(mail, reader, { facts, way })
        more ||= !reader || facts !== null
      }
    }
  }

  private start(mail: PendingMail, reader: Recipient, { facts, way }: { facts: DigestFacts; way: Lane }): void {
    const { dispatcher } = this.deps
    const key = keyOf(mail)
    const sending = dispatcher.track(way, async (ended) => {
      const outbound = this.letter(mail, reader, facts)
      const reply = await dispatcher.deps.transport.send(outbound, dispatcher.stopping)
      ended(reply.kind === 'error' && reply.hung === true)
      const outcome = outcomeOf(outbound, reply, dispatcher.deps.clock.now())
      const isStopped = outcome.verdict !== 'delivered' && dispatcher.stopping.aborted
      if (!isStopped) await this.record(mail, reader, outcome)
    })
    const settled = sending
      .catch((error) => dispatcher.deps.report(error, 'digest'))
      .finally(() => this.underWay.delete(key))
    this.underWay.set(key, settled)
  }

  /** The same id for every attempt, also after a kill. */
  private letter(mail: PendingMail, reader: Recipient, facts: DigestFacts): MailOutbound {
    const { box, publicUrl } = this.deps
    const { address, context, hourUtc, leaving } = reader
    const unsubscribeUrl = `${publicUrl}${UNSUBSCRIBE_PATH}?t=${unsubscribeToken(box, leaving)}`
    const hour = `${String(hourUtc).padStart(2, '0')}:00 UTC`
    const because = `You get this daily from ${hour} on when something happened, and on Mondays in any case.`
    const document = buildDigest(facts, { context, publicUrl, unsubscribeUrl, because })
    return {
      kind: 'mail',
      to: [address],
      subject: document.subject,
      text: textOf(document),
      html: htmlOf(document),
      messageId: messageIdOf(mail),
      threadId: null,
      headers: oneClick(unsubscribeUrl),
    }
  }

  /** A mail that went is not forgotten because the store does not take it now: it would be sent again. */
  private record(mail: PendingMail, { integrationId }: Recipient, outcome: Outcome): Promise<void> {
    const { db, dispatcher } = this.deps
    return dispatcher.writeWithRetry(() => {
      this.settle(mail, outcome)
      updateIntegrationStatus(db, integrationId, outcome)
    }, 'digest')
  }

  private settle(mail: PendingMail, outcome: Outcome): void {
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
    if (delayMs === null && reason !== GONE) warn(`a digest was not delivered: ${reason}`)
    const status = delayMs === null ? 'failed' : 'pending'
    finishMail(db, mail, { status, attempts, dueAt: now + (delayMs ?? 0), lastError: reason })
  }
}
