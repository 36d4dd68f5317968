import type { Instant } from '../../core/clock.ts'
import { type InboundParts, OpenInbound } from '../context/open-inbound.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { wayOfIntegration } from '../delivery/queues.ts'
import type { IntegrationRecord } from '../integration.ts'
import { PROVIDERS } from '../providers/index.ts'
import type { Poll, Provider } from '../providers/provider.ts'
import { DELIVERED, outcomeOfError } from '../reply.ts'
import { noteOutcome } from '../standing.ts'
import { integrationsOf } from '../store.ts'

/**
 * Looks again and again at other sides that don't call us. When each was looked at last is not stored: after a start all are
 * looked at, which does no harm.
 */
export class Polls {
  private readonly underWay = new Set<string>()
  private readonly endedAt = new Map<string, Instant>()

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly parts: InboundParts,
  ) {}

  /** Begins what is due and has a place, without waiting for it. */
  start(): void {
    const { providers = PROVIDERS } = this.dispatcher.parts
    if (this.dispatcher.stopping.aborted) return
    const present = new Set<string>()
    for (const provider of providers) {
      if (!provider.poll) continue
      for (const integration of integrationsOf(this.parts.db, provider.type)) {
        present.add(integration.id)
        this.consider(provider, provider.poll, integration)
      }
    }
    for (const id of this.endedAt.keys()) if (!present.has(id)) this.endedAt.delete(id)
  }

  private consider(
    provider: Provider,
    poll: Poll<object, unknown, object, unknown>,
    integration: IntegrationRecord,
  ): void {
    const { id, status, config } = integration
    if (this.underWay.has(id) || (status !== 'connected' && status !== 'failing')) return
    const everyMs = poll.everyMs(config)
    const now = this.parts.clock.now()
    const endedAt = this.endedAt.get(id)
    // A time to come is from before the clock was put back.
    if (everyMs === null || (endedAt !== undefined && endedAt <= now && endedAt + everyMs > now)) return
    const way = wayOfIntegration(this.parts.db, integration)
    if (!this.dispatcher.hasRoom(way)) return
    this.underWay.add(id)
    void this.dispatcher
      .visit(way, (ended) => this.look(provider, poll, integration, ended))
      .catch((error: unknown) => this.dispatcher.parts.report(error, id))
      .finally(() => {
        this.underWay.delete(id)
        this.endedAt.set(id, this.parts.clock.now())
      })
  }

  /** Fails only when the store does. */
  private async look(
    provider: Provider,
    poll: Poll<object, unknown, object, unknown>,
    { orgId, id }: IntegrationRecord,
    ended: (hung: boolean) => void,
  ): Promise<void> {
    const { parts, dispatcher } = this
    let context: OpenInbound | null = null
    try {
      context = new OpenInbound(parts, provider, { orgId, id }, dispatcher.stopping)
      await poll.run(context)
      if (context.asked) noteOutcome(parts.db, id, DELIVERED)
    } catch (error) {
      const outcome = dispatcher.stopping.aborted ? null : outcomeOfError(error, parts.clock.now())
      if (outcome) noteOutcome(parts.db, id, outcome)
      if (!outcome && !dispatcher.stopping.aborted) dispatcher.parts.report(context?.withoutSecrets(error) ?? error, id)
    }
    ended(context?.hung ?? false)
  }
}
