import type { Room } from '../base.ts'
import { Emitter } from '../core/emitter.ts'
import type { HistoryBase } from '../history-base.ts'
import type { Enqueue } from '../issues/issue.ts'
import type { InboundDeps } from './context/inbound-context.ts'
import { deliver } from './delivery/deliver-messages.ts'
import { recoverInterrupted } from './delivery/delivery-queues.ts'
import { Dispatcher } from './delivery/dispatcher.ts'
import type { MessageEnricher } from './delivery/message-enricher.ts'
import type { NotifierDeps } from './delivery/notifier.ts'
import { deliveryRoutes } from './delivery/routes.ts'
import { Listeners } from './inbound/inbound-connections.ts'
import { Poller } from './inbound/poller.ts'
import type { Channel } from './providers/channel.ts'
import type { Connector } from './providers/connector.ts'
import { CHANNELS } from './providers/index.ts'
import { integrationRoutes } from './routes.ts'
import { StatusSync } from './status/status-sync.ts'

const EVERY_SECOND = '* * * * * *'

export interface IntegrationsRoom extends Room {
  dispatcher: Dispatcher
}

interface Deps extends Required<Pick<NotifierDeps, 'changesOf'>>, Required<Pick<InboundDeps, 'noteChange'>> {
  /** Everything that an organization can connect. */
  connectors: readonly Connector[]
  enqueue: Enqueue
  /** Adds data from the event history to messages. */
  enricher: MessageEnricher
  /** Channels of the internal organization. */
  internalChannels: readonly Channel[]
  /** Returns a random number from 0 (inclusive) to 1 (exclusive), used to spread retries. */
  jitter(): number
}

/** Creates the integrations module. Deliveries interrupted by a crash are sent again. */
export function openIntegrations(base: HistoryBase, deps: Deps): IntegrationsRoom {
  const { db, box, clock, config, transport, report, guard, publicUrl, collectUrl, stopping } = base
  const { connectors, enqueue, enricher, internalChannels, jitter, changesOf, noteChange } = deps
  recoverInterrupted(db)
  const mailConfigured = config.smtpUrl !== ''
  const dispatcher = new Dispatcher(
    {
      db,
      box,
      clock,
      transport,
      jitter,
      mailConfigured,
      report,
      operator: config.providers,
      enricher,
      channels: [...CHANNELS, ...internalChannels],
    },
    stopping,
  )
  const queued = new Emitter()
  base.rowChanges.subscribe((changes) => {
    if (changes.some(({ kind, values }) => kind === 'delivery' && values.status === 'pending')) queued.emit()
  })
  const listeners = new Listeners(dispatcher, { ...dispatcher.deps, enqueue, connectors })
  const poller = new Poller(dispatcher, { ...dispatcher.deps, enqueue, noteChange, connectors })
  const statusSync = new StatusSync(dispatcher)
  return {
    dispatcher,
    routes: [
      ...integrationRoutes({ db, clock, box, dispatcher, guard, publicUrl, collectUrl, enqueue, connectors }),
      ...deliveryRoutes({ db, box, clock }),
    ],
    jobs: [
      {
        name: 'deliver',
        isOutbound: true,
        pattern: EVERY_SECOND,
        trigger: queued,
        run: async () => deliver({ db, clock, publicUrl, changesOf }, dispatcher),
      },
      { name: 'sync statuses', isOutbound: true, pattern: EVERY_SECOND, run: async () => statusSync.start() },
      { name: 'poll', isOutbound: true, pattern: EVERY_SECOND, run: async () => poller.start() },
      { name: 'listen', isOutbound: true, pattern: EVERY_SECOND, run: async () => listeners.start() },
    ],
    idle: () => dispatcher.idle(),
    async stop() {
      await Promise.all([dispatcher.idle(), listeners.idle()])
    },
  }
}
