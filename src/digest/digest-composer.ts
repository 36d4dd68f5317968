import { type Clock, DAY_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import type { Principal } from '../http/principal.ts'
import { type InsightRouteDeps, sourcesFor } from '../insights/routes.ts'
import { LOGO_DATA_URL } from '../mail/mail-logo.ts'
import { renderMailHtml } from '../mail/render-mail-html.ts'
import { withSignal } from '../warehouse/warehouse.ts'
import { buildDigest } from './build-digest.ts'
import { type DigestFacts, hasData } from './digest-facts.ts'
import { isWeekly } from './digest-schedule.ts'
import { gatherFacts } from './gather-facts.ts'

interface ComposerDeps extends InsightRouteDeps {
  clock: Clock
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  report(error: unknown, where: string): void
}

/** Lifetime of a cached preview. */
const PREVIEW_MS = 10 * MINUTE_MS
/** Maximum number of cached previews, up to 100 kB each. */
const MAX_PREVIEWS = 200
/** Lifetime of cached facts, so that digests sent together are consistent. */
const FACTS_MS = MINUTE_MS
/** Total time limit for expensive queries; results that are not ready in time are omitted. */
const BOUND_MS = 15 * SECOND_MS
const RETRY_AFTER_S = 30

export interface Preview {
  hasData: boolean
  subject: string
  html: string
  composedAt: Instant
  refreshInSeconds: number
}

interface Gathering {
  signal: AbortSignal | null
  at: Instant
  isWeekly: boolean
}

type Composed = Omit<Preview, 'refreshInSeconds'>

/** Composes digests and caches previews and facts. One instance per process. */
export class DigestComposer {
  /** By organization, user and context; oldest first. */
  private readonly previews = new Map<string, Composed>()
  private readonly facts = new Map<string, DigestFacts>()

  constructor(private readonly deps: ComposerDeps) {}

  /**
   * Returns the digest that the caller would receive, at most 10 minutes old. Fails only with `unavailable`, if the
   * digest can't be composed.
   */
  async preview(principal: Principal, context: string, signal: AbortSignal): Promise<Preview> {
    const { clock, publicUrl } = this.deps
    const key = [principal.orgId, principal.userId, context].join('\0')
    const known = this.previews.get(key)
    if (known && this.isFresh(known.composedAt, PREVIEW_MS)) return this.shown(known)
    const at = clock.now()
    const facts = await this.gather(principal, { signal, at, isWeekly: isWeekly(Math.floor(at / DAY_MS)) })
    const because = 'This is a preview. No e-mail was sent.'
    const document = buildDigest(facts, { context, publicUrl, unsubscribeUrl: null, because })
    const composed = {
      hasData: hasData(facts),
      subject: document.subject,
      html: renderMailHtml(document, LOGO_DATA_URL),
      composedAt: at,
    }
    this.previews.delete(key)
    this.previews.set(key, composed)
    for (const oldest of this.previews.keys()) {
      if (this.previews.size <= MAX_PREVIEWS) break
      this.previews.delete(oldest)
    }
    return this.shown(composed)
  }

  /**
   * Returns the activity of an organization, at most a minute old. If `isWeekly` is true, includes last week's report.
   * Fails like `preview`.
   */
  async factsOf(orgId: string, isWeekly: boolean): Promise<DigestFacts> {
    const { clock } = this.deps
    for (const [id, { at }] of this.facts) if (!this.isFresh(at, FACTS_MS)) this.facts.delete(id)
    const key = `${orgId} ${isWeekly}`
    const known = this.facts.get(key)
    if (known) return known
    const facts = await this.gather(systemOf(orgId), { signal: null, at: clock.now(), isWeekly })
    this.facts.set(key, facts)
    return facts
  }

  /** A time in the future is never fresh, because it was recorded before the clock was set back. */
  private isFresh(at: Instant, forMs: number): boolean {
    const now = this.deps.clock.now()
    return at <= now && now < at + forMs
  }

  private shown(composed: Composed): Preview {
    const left = composed.composedAt + PREVIEW_MS - this.deps.clock.now()
    return { ...composed, refreshInSeconds: Math.max(0, Math.ceil(left / SECOND_MS)) }
  }

  /** @param signal Cancels the caller's queries; null for a job. */
  private async gather(principal: Principal, { signal, at: now, isWeekly }: Gathering): Promise<DigestFacts> {
    const { orgId } = principal
    const bound = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(BOUND_MS)])
    const bounded = sourcesFor(this.deps, orgId, bound, 'insights')
    const history = signal ? withSignal(this.deps.warehouse, signal, 'search') : this.deps.warehouse
    try {
      return await gatherFacts({ ...bounded, history }, bounded, { principal, now }, { isWeekly })
    } catch (error) {
      const isRefusal = error instanceof AppError
      if (!isRefusal) this.deps.report(error, 'the digest')
      const why = isRefusal ? messageOf(error) : 'see the server log'
      throw new AppError('unavailable', `the digest composer is unavailable: ${why}`, RETRY_AFTER_S)
    }
  }
}

/** Digests for all recipients are composed with viewer permissions. */
const systemOf = (orgId: string): Principal => ({
  via: 'session',
  userId: '',
  orgId,
  role: 'viewer',
  readOnly: true,
  keyId: null,
  sessionId: null,
})
