import type { Instant } from '../../core/clock.ts'
import { type InboundDeps, LiveInboundContext } from '../context/inbound-context.ts'
import { laneOfIntegration } from '../delivery/delivery-queues.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { DELIVERED, outcomeOfError } from '../delivery-outcome.ts'
import type { IntegrationRecord } from '../integration.ts'
import { type Connector, inboundBy, type Poll } from '../providers/connector.ts'
import { integrationsOf, updateIntegrationStatus } from '../store.ts'

type AnyPoll = Poll<object, unknown, object, unknown>

/**
 * Polls services that do not send webhook calls. The time of the last poll is not stored, so every service is polled
 * after startup, which is harmless.
 */
export class Poller {
  private readonly inFlight = new Set<string>()
  private readonly endedAt = new Map<string, Instant>()

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly deps: InboundDeps & { connectors: readonly Connector[] },
  ) {}

  /** Starts the due polls for which a slot is free, without waiting for them to finish. */
  start(): void {
    if (this.dispatcher.stopping.aborted) return
    const present = new Set<string>()
    for (const { connector, inbound } of inboundBy(this.deps.connectors, 'poll')) {
      for (const integration of integrationsOf(this.deps.db, connector.type)) {
        present.add(integration.id)
        this.startIfDue(connector, inbound, integration)
      }
    }
    for (const id of this.endedAt.keys()) if (!present.has(id)) this.endedAt.delete(id)
  }

  private startIfDue(connector: Connector, poll: AnyPoll, integration: IntegrationRecord): void {
    const { id, status, config } = integration
    if (this.inFlight.has(id) || (status !== 'connected' && status !== 'failing')) return
    const everyMs = poll.everyMs(config)
    const now = this.deps.clock.now()
    const endedAt = this.endedAt.get(id)
    // A time in the future was recorded before the clock was set back.
    if (everyMs === null || (endedAt !== undefined && endedAt <= now && endedAt + everyMs > now)) return
    const lane = laneOfIntegration(this.deps.db, integration)
    if (!this.dispatcher.hasRoom(lane)) return
    this.inFlight.add(id)
    void this.dispatcher
      .track(lane, (ended) => this.poll(connector, poll, integration, ended))
      .catch((error: unknown) => this.dispatcher.deps.report(error, id))
      .finally(() => {
        this.inFlight.delete(id)
        this.endedAt.set(id, this.deps.clock.now())
      })
  }

  /** Polls one integration. Fails only if the store fails. */
  private async poll(
    connector: Connector,
    poll: AnyPoll,
    { orgId, id }: IntegrationRecord,
    ended: (hung: boolean) => void,
  ): Promise<void> {
    const { deps, dispatcher } = this
    let context: LiveInboundContext | null = null
    try {
      context = new LiveInboundContext(deps, connector, { orgId, id }, dispatcher.stopping)
      await poll.run(context)
      if (context.asked) updateIntegrationStatus(deps.db, id, DELIVERED)
    } catch (error) {
      const outcome = dispatcher.stopping.aborted ? null : outcomeOfError(error, deps.clock.now())
      if (outcome) updateIntegrationStatus(deps.db, id, outcome)
      if (!outcome && !dispatcher.stopping.aborted) dispatcher.deps.report(context?.withoutSecrets(error) ?? error, id)
    }
    ended(context?.hung ?? false)
  }
}
