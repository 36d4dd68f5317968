import { expect, test } from 'bun:test'
import type { Cast } from '../../../test/fixtures.ts'
import type { AlertChannel } from '../../alerts/alert.ts'
import type { ProviderType } from '../../contract/products.ts'
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { startEscalation } from '../../issues/escalation-store.ts'
import { setStatus } from '../../issues/store.ts'
import type { Db } from '../../store/database.ts'
import type { Transport } from '../../transport/transport.ts'
import type { Channel } from '../providers/channel.ts'
import { insertIntegration } from '../store.ts'
import { recoverInterrupted } from './delivery-queues.ts'
import { type GroupFixtureOptions, groupFixture } from './group.fixture.ts'

export interface KillTable<Server extends AsyncDisposable> {
  /** Channel to test. Absent: one of `CHANNELS`. */
  channel?: Channel
  type: AlertChannel['type']
  /** Starts the other service. Called for every kill. */
  server(): Promise<Server> | Server
  /** Settings of an integration that uses the server. Absent: notifications are sent to `target`. */
  integration?(server: Server): { config: Record<string, unknown>; secrets: Record<string, unknown> }
  target?(server: Server): string
  detail?: string
  state?: unknown | ((server: Server) => unknown)
  /** Port of the mail server. */
  smtpPort?(server: Server): number
  /** Items that must exist exactly once in the other service after any kill, such as ticket labels. */
  once?(server: Server): readonly string[]
  operator?(server: Server): Record<string, string>
}

type World = ReturnType<typeof groupFixture>

/** Number of the history entry of the escalated issue's opening. */
const OPENING_SEQ = 7

/**
 * Runs the scenario. Opens three issues, resolves one, acknowledges another, and escalates, resolves and reopens the
 * third. Stops early if `isOver` returns true.
 */
async function live(world: World, channel: AlertChannel, isOver: () => boolean): Promise<void> {
  const { clock, open, tell, follow, db, people } = world
  const channels = [channel]
  // Advances the clock because chats accept one message per second.
  const deliver = async () => {
    for (let seconds = 0; seconds < 3; seconds++) {
      clock.advance(SECOND_MS)
      await world.deliver()
    }
  }
  const steps: (() => unknown)[] = [
    () => open('iss_1', channels),
    deliver,
    () => open('iss_2', channels),
    () => open('iss_3', channels),
    () => tell('resolved', 'iss_2'),
    deliver,
    () => clock.advance(MINUTE_MS),
    deliver,
    () =>
      setStatus(
        db,
        { orgId: people.orgId, by: people.bob.userId, now: clock.now() },
        'iss_3',
        'acknowledged',
        () => undefined,
      ),
    follow,
    () => startEscalation(db, { id: 'iss_1', orgId: people.orgId }, OPENING_SEQ, clock.now()),
    () => tell('repeated', 'iss_1', { channels, escalationStep: 1, instance: `${OPENING_SEQ}.30` }),
    deliver,
    () => tell('resolved', 'iss_1'),
    deliver,
    () => tell('reopened', 'iss_1', { channels }),
    deliver,
  ]
  for (const step of steps) {
    if (isOver()) return
    await step()
  }
}

/**
 * Tests crash safety. The server is killed at each step while issues open and are resolved, acknowledged and reopened.
 * It is then restarted from the stored state. Verifies that no notification is lost or sent under two ids, and that no
 * resolution is sent without an opening.
 *
 * A step is reached before and after each outgoing call, and whenever the clock is read. The clock is read before
 * anything is claimed, remembered or recorded.
 */
export function testKills<Server extends AsyncDisposable>(name: string, table: KillTable<Server>): void {
  test(`no notification to ${name} is lost or sent under two ids when the server is killed at any step`, async () => {
    const start = groupFixture()
    const fresh = { image: start.db.serialize(), people: start.people, like: start.db }
    const steps = await play(table, fresh, null)
    expect(steps).toBeGreaterThan(0)
    for (let step = 1; step <= steps; step++) await play(table, fresh, step)
  })
}

/** Initial database with users. */
interface Fresh {
  image: Buffer
  people: Cast
  like: Db
}

/** Opens a copy of an on-disk database from an image of its content. */
export function openImage(image: Buffer, like: Db): Db {
  const db = new (like.constructor as new (image: Buffer) => Db)(image)
  db.pragma('foreign_keys = ON')
  return db
}

/**
 * Runs the scenario and returns the number of steps.
 * @param killAt Number of the step at which the server is killed. Null: never.
 */
async function play<Server extends AsyncDisposable>(
  table: KillTable<Server>,
  { image, people, like }: Fresh,
  killAt: number | null,
): Promise<number> {
  await using server = await table.server()
  const options: GroupFixtureOptions = {
    people,
    ...(table.channel ? { channels: [table.channel] } : {}),
    ...(table.smtpPort ? { smtpPort: table.smtpPort(server) } : {}),
    ...(table.operator ? { operator: table.operator(server) } : {}),
  }
  const world = groupFixture({ ...options, db: openImage(image, like) })
  const channel = channelOf(table, server, world)
  const killed = killAtStep(world, killAt)
  await live(world, channel, () => killed.image !== null)
  await world.dispatcher.idle()
  const statuses = new Set(world.deliveries().map(({ status }) => status))
  world.db.close()
  const name = killAt === null ? 'not killed' : `step ${killAt}, ${killed.steps.at(-1)}`
  if (killed.image === null) expect([name, statuses]).toEqual([name, new Set(['delivered'])])
  else await goOn(name, groupFixture({ ...options, db: openImage(killed.image, like) }), world.clock.now())
  const once = table.once?.(server) ?? []
  expect([name, once.toSorted()]).toEqual([name, [...new Set(once)].toSorted()])
  return killed.steps.length
}

function channelOf<Server extends AsyncDisposable>(
  { integration, type, detail, state, target }: KillTable<Server>,
  server: Server,
  { db, box, orgId, clock }: World,
): AlertChannel {
  if (!integration) return { type, target: target?.(server) ?? '' }
  const { id } = insertIntegration(db, box, {
    orgId,
    provider: type as ProviderType,
    label: 'Table',
    createdAt: clock.now(),
    ...integration(server),
  })
  const present = typeof state === 'function' ? state(server) : state
  if (present !== undefined)
    db.prepare('UPDATE integration SET state = ? WHERE id = ?').run(JSON.stringify(present), id)
  return { type, target: detail ? `${id}:${detail}` : id }
}

/** Counts the steps and copies the database at step `killAt`. */
function killAtStep({ db, clock, parts, stopping }: World, killAt: number | null) {
  const killed: { steps: string[]; image: Buffer | null } = { steps: [], image: null }
  let seen = ''
  let calls = 0
  const reach = (what: string) => {
    const state = `${calls} ${db.prepare('SELECT total_changes()').pluck().get()}`
    // Ignores the step if nothing was stored or sent since the previous step.
    if (killed.image !== null || state === seen) return
    seen = state
    killed.steps.push(what)
    if (killed.steps.length !== killAt) return
    killed.image = db.serialize()
    stopping.abort()
  }
  // After the kill, nothing is observed or sent.
  const call = (what: string) => {
    reach(what)
    if (killed.image !== null) throw new Error('killed')
  }
  const { send } = parts.transport
  const transport: Transport = {
    async send(outbound, signal) {
      call('before a call')
      const reply = await send(outbound, signal)
      calls++
      call('after a call')
      return reply
    },
  }
  const now = () => {
    reach('a read of the clock')
    return clock.now()
  }
  Object.assign(parts, { transport, clock: { now } })
  return killed
}

/** Continues from the stored state and verifies the result. */
async function goOn(name: string, world: World, now: number): Promise<void> {
  const { db, clock, deliver, follow, deliveries, reported } = world
  const before = deliveries().map(({ id, issueId, transition }) => ({ id, issueId, transition }))
  recoverInterrupted(db)
  clock.set(now)
  for (let round = 0; round < 6; round++) {
    clock.advance(MINUTE_MS)
    await deliver()
    await follow()
  }
  const after = deliveries()
  expect([name, after]).toMatchObject([name, before.map((row) => ({ ...row, status: 'delivered' }))])
  for (const { issueId, transition, deliveredAt } of after) {
    if (transition !== 'resolved') continue
    const opened = after.find((one) => one.issueId === issueId && one.transition === 'opened')
    expect(opened?.deliveredAt ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(deliveredAt ?? 0)
  }
  expect([name, reported]).toEqual([name, []])
  db.close()
}
