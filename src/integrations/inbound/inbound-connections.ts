import { type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import type { WebSocketLine } from '../../transport/transport.ts'
import { type InboundDeps, LiveInboundContext } from '../context/inbound-context.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { outcomeOfError } from '../delivery-outcome.ts'
import { type Connector, inboundBy, type Listener } from '../providers/connector.ts'
import type { InboundContext, ListeningContext } from '../providers/provider-context.ts'
import { openIntegration, setLastAttemptStatus, type UsableIntegration, usableIntegrations } from '../store.ts'

/** Maximum number of open connections per organization and in total. The oldest integrations take precedence. */
const MAX_CONNECTIONS = { org: 8, all: 256 }
const FIRST_PAUSE_MS = SECOND_MS
const MAX_PAUSE_MS = 5 * MINUTE_MS
/** Once a connection has been open for this long, the next pause is reset to the minimum. */
const STEADY_MS = MINUTE_MS

/** Number of consecutive failures after which the integration is `failing`. Single disconnects are normal. */
const FAILING_AFTER = 2

type AnyListener = Listener<object, unknown, object, unknown>

/** A connection that should be open. */
interface Wanted {
  connector: Connector
  listener: AnyListener
  /** Integration whose settings are used to open the connection: the oldest of the integrations that share it. */
  owner: UsableIntegration
  line: string
}

interface Connection {
  /** Version of the settings with which the connection was opened. */
  version: string
  ownerId: string
  stop: AbortController
  openedAt: Instant | null
}

interface Pause {
  version: string
  failures: number
  until: Instant
}

/**
 * Maintains the connections on which providers listen. A connection is opened when an integration is connected,
 * reopened when its settings change, and closed when the integration can no longer be used. Nothing is stored.
 */
export class Listeners {
  private readonly connections = new Map<string, Connection>()
  private readonly pauses = new Map<string, Pause>()
  private readonly running = new Set<Promise<void>>()
  /** Cached connection keys by integration. A key is valid for one version of the settings. */
  private lines = new Map<string, { version: string; line: string | null }>()

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly deps: InboundDeps & { connectors: readonly Connector[] },
  ) {}

  /** Opens due connections and closes obsolete ones, without waiting for the result. */
  start(): void {
    if (this.dispatcher.stopping.aborted) return
    const wanted = this.wanted()
    for (const [key, { version, ownerId, stop }] of this.connections) {
      const owner = wanted.get(key)?.owner
      if (owner?.version === version && owner.id === ownerId) continue
      this.connections.delete(key)
      stop.abort()
    }
    for (const key of this.pauses.keys()) if (!wanted.has(key)) this.pauses.delete(key)
    for (const [key, one] of wanted) if (!this.connections.has(key) && this.isDue(key, one)) this.open(key, one)
  }

  /** Resolves when no connection is open after the server was stopped. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running)
  }

  private wanted(): Map<string, Wanted> {
    const wanted = new Map<string, Wanted>()
    const ofOrg = new Map<string, number>()
    const lines = new Map<string, { version: string; line: string | null }>()
    for (const { connector, inbound: listener } of inboundBy(this.deps.connectors, 'socket')) {
      const { type } = connector
      for (const owner of usableIntegrations(this.deps.db, type)) {
        const line = this.lineOf(listener, owner)
        lines.set(owner.id, { version: owner.version, line })
        const key = `${type} ${line}`
        const count = ofOrg.get(owner.orgId) ?? 0
        if (line === null || wanted.has(key) || count >= MAX_CONNECTIONS.org || wanted.size >= MAX_CONNECTIONS.all)
          continue
        ofOrg.set(owner.orgId, count + 1)
        wanted.set(key, { connector, listener, owner, line })
      }
    }
    this.lines = lines
    return wanted
  }

  private lineOf(listener: AnyListener, { orgId, id, version }: UsableIntegration): string | null {
    const known = this.lines.get(id)
    if (known?.version === version) return known.line
    try {
      const connection = openIntegration(this.deps.db, this.deps.box, { orgId, id })
      return connection ? listener.connectionKey(connection.settings) : null
    } catch {
      // The integration's secrets were lost. This is reported whenever the integration is used.
      return null
    }
  }

  private isDue(key: string, { owner }: Wanted): boolean {
    const pause = this.pauses.get(key)
    const now = this.deps.clock.now()
    // A pause longer than the maximum was set before the clock was set back.
    return pause?.version !== owner.version || pause.until <= now || pause.until > now + 2 * MAX_PAUSE_MS
  }

  private open(key: string, wanted: Wanted): void {
    const { id: ownerId, version } = wanted.owner
    const connection: Connection = { version, ownerId, stop: new AbortController(), openedAt: null }
    this.connections.set(key, connection)
    const running = this.listen(key, wanted, connection)
      .catch((error: unknown) => this.report(error, null, ownerId))
      .finally(() => this.running.delete(running))
    this.running.add(running)
  }

  /** Serves one connection until it ends. Fails only if the store fails. */
  private async listen(key: string, wanted: Wanted, connection: Connection): Promise<void> {
    const { listener } = wanted
    const { deps, dispatcher } = this
    const signal = AbortSignal.any([connection.stop.signal, dispatcher.stopping])
    let context: LiveListeningContext | null = null
    let fault: unknown = new AppError('upstream', 'the connection was closed')
    try {
      context = new LiveListeningContext(deps, wanted, signal, {
        opened: () => this.opened(key, wanted, connection),
        report: (error) => this.report(error, context, wanted.owner.id),
      })
      await listener.run(context)
    } catch (error) {
      fault = error
    }
    if (this.connections.get(key) === connection) this.connections.delete(key)
    if (signal.aborted) return
    if (!outcomeOfError(fault, deps.clock.now())) this.report(fault, context, wanted.owner.id)
    const { failures } = this.pause(key, wanted, connection, fault)
    if (failures >= FAILING_AFTER) setLastAttemptStatus(deps.db, wanted.owner.id, 'failing')
  }

  private report(error: unknown, context: LiveListeningContext | null, id: string): void {
    if (!this.dispatcher.stopping.aborted) this.dispatcher.deps.report(context?.withoutSecrets(error) ?? error, id)
  }

  private opened(key: string, { owner }: Wanted, connection: Connection): void {
    if (connection.openedAt !== null) return
    connection.openedAt = this.deps.clock.now()
    const failures = this.pauses.get(key)?.failures ?? 0
    if (failures >= FAILING_AFTER) setLastAttemptStatus(this.deps.db, owner.id, 'connected')
  }

  private pause(key: string, { owner: { version } }: Wanted, { openedAt }: Connection, fault: unknown): Pause {
    const now = this.deps.clock.now()
    const before = this.pauses.get(key)
    const wasSteady = openedAt !== null && now - openedAt >= STEADY_MS
    const failures = before?.version === version && !wasSteady ? before.failures + 1 : 1
    const outcome = outcomeOfError(fault, now)
    const asked = (outcome?.verdict === 'retry' && outcome.retryAfterMs) || 0
    const grown = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
    const spread = 1 + 0.2 * this.dispatcher.deps.jitter()
    const ms = Math.max(Math.round(grown * spread), Math.min(asked, MAX_PAUSE_MS))
    const pause = { version, failures, until: now + ms }
    this.pauses.set(key, pause)
    return pause
  }
}

interface Hooks {
  opened(): void
  report(error: unknown): void
}

class LiveListeningContext extends LiveInboundContext implements ListeningContext {
  constructor(
    private readonly all: InboundDeps,
    private readonly wanted: Wanted,
    signal: AbortSignal,
    private readonly hooks: Hooks,
  ) {
    super(all, wanted.connector, wanted.owner, signal)
  }

  async openSocket(url: string): Promise<WebSocketLine> {
    const { openSocket } = this.all.transport
    if (!openSocket) throw new AppError('unavailable', 'persistent connections are not available')
    return openSocket(url, this.signal)
  }

  opened(): void {
    this.hooks.opened()
  }

  report(error: unknown): void {
    this.hooks.report(error)
  }

  sharedWith(integrationId: string): InboundContext | null {
    const { connector, listener, owner, line } = this.wanted
    if (integrationId === owner.id) return this
    const { db } = this.all
    const other = usableIntegrations(db, connector.type).find(({ id }) => id === integrationId)
    if (!other) return null
    const inbound = new LiveInboundContext(this.all, connector, other, this.signal)
    return listener.connectionKey(inbound.settings) === line ? inbound : null
  }
}
