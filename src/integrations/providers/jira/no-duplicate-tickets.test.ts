import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SECOND_MS } from '../../../core/clock.ts'
import { openDatabase } from '../../../store/database.ts'
import { recoverInterrupted } from '../../delivery/queues.ts'
import { asked, isCreate, type JiraFixture, jiraFixture } from './jira.fixture.ts'
import { jiraServer } from './jira-server.fixture.ts'

/** No need to survive a power failure, so writes are not synced. */
function opened(file: string) {
  const db = openDatabase(file)
  db.pragma('synchronous = OFF')
  return db
}

describe('a ticket is created once', () => {
  test('if the response is lost and the search index is delayed', async () => {
    const world = jiraFixture()
    await using server = jiraServer(world.clock)
    server.behaviour.searchLagMs = 20 * SECOND_MS
    const { id } = await world.connected(server)
    let lost = 0
    world.wayOut.loses = (outbound) => isCreate(outbound) && lost++ === 0
    await world.opened(id)
    for (let seconds = 0; seconds < 25; seconds++) {
      world.clock.advance(SECOND_MS)
      await world.deliver()
    }
    expect(world.summary()).toEqual(['opened delivered'])
    expect(server.tickets).toHaveLength(1)
    expect(world.issueRow()?.trackerKey).toBe('OPS-1')
  })

  test('and again only if it was not found for a minute', async () => {
    const world = jiraFixture()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    let refused = 0
    server.behaviour.instead = ({ method, path }) =>
      isCreate({ method, url: path }) && refused++ === 0 ? new Response('', { status: 502 }) : null
    await world.opened(id)
    const looksUntil = async (untilS: number) => {
      for (; world.clock.now() < startedAt + untilS * SECOND_MS; world.clock.advance(SECOND_MS)) await world.deliver()
      return asked(server).filter((one) => one === 'POST /search/jql').length
    }
    const startedAt = world.clock.now()
    expect(await looksUntil(29)).toBe(6)
    expect(server.tickets).toEqual([])
    await looksUntil(32)
    expect(server.tickets).toHaveLength(1)
    expect(world.summary()).toEqual(['opened delivered'])
  })

  test('and those of other issues do not wait meanwhile', async () => {
    const world = jiraFixture()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    server.behaviour.instead = ({ method, path }) =>
      isCreate({ method, url: path }) ? new Response('', { status: 502 }) : null
    await world.opened(id)
    server.behaviour.instead = () => null
    world.clock.advance(6 * SECOND_MS)
    await world.deliver()
    await world.opened(id, 'iss_2')
    expect(world.summary()).toEqual(['opened pending', 'opened delivered'])
  })

  test('although a copy of it has its label', async () => {
    const world = jiraFixture()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    for (const summary of ['the first', 'its copy']) server.make('OPS', { summary, labels: ['tagwarden-iss_1'] })
    await world.opened(id)
    expect(world.issueRow()?.trackerKey).toBe('OPS-1')
    expect(server.tickets).toHaveLength(2)
  })

  test.each([1, 2, 3, 4, 5, 6])('as are its comments, if the server is killed after request %i', async (kill) => {
    const folder = mkdtempSync(join(tmpdir(), 'tagwarden-tickets-'))
    let world = jiraFixture(opened(join(folder, 'start.db')))
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    const reached = Promise.withResolvers<void>()
    let requests = 0
    server.behaviour.after = (_request, response) => {
      if (++requests !== kill) return response
      reached.resolve()
      return new Promise(() => undefined)
    }
    world.issue()
    for (const transition of ['opened', 'repeated', 'resolved'] as const) world.told(id, transition)
    world = (await killed(world, reached.promise, join(folder, 'after.db'))) ?? world
    for (let seconds = 0; seconds <= 70; seconds += 5) {
      await world.deliver()
      world.clock.advance(5 * SECOND_MS)
    }
    expect(requests).toBeGreaterThanOrEqual(kill)
    expect(world.summary()).toEqual(['opened delivered', 'repeated delivered', 'resolved delivered'])
    expect(server.tickets.map(({ comments }) => comments.length)).toEqual([2])
    world.db.close()
    rmSync(folder, { recursive: true })
  })

  /** Kills the server when `reached` and restarts it; null if it finished before. */
  async function killed(world: JiraFixture, reached: Promise<void>, file: string): Promise<JiraFixture | null> {
    const isReached = await Promise.race([reached.then(() => true), world.deliver().then(() => false)])
    if (!isReached) return null
    // The database as a crash leaves it, without later writes.
    world.db.prepare('VACUUM INTO ?').run(file)
    world.stopping.abort()
    await world.dispatcher.idle()
    world.db.close()
    const db = opened(file)
    recoverInterrupted(db)
    const after = jiraFixture(db, world.people)

    after.clock.set(world.clock.now())
    return after
  }

  test('in a hundred runs with lost responses, 502 after success, crashes, and a search index delayed by 5 s', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tagwarden-tickets-'))
    let world = jiraFixture(opened(join(folder, 'start.db')))
    const clock = world.clock
    await using server = jiraServer(clock)
    server.behaviour.searchLagMs = 5 * SECOND_MS
    const { id } = await world.connected(server)
    for (let index = 0; index < 100; index++) world.told(id, 'opened', world.issue(`iss_${index}`))
    let reached = Promise.withResolvers<void>()
    let creates = 0
    let replies = 0
    const numbers = new WeakMap<object, number>()
    server.behaviour.instead = (request) => {
      if (!isCreate({ method: request.method, url: request.path })) return null
      numbers.set(request, ++creates)
      return creates % 9 === 4 ? new Response('', { status: 503 }) : null
    }
    server.behaviour.after = (request, response) => {
      const number = numbers.get(request)
      if (number === undefined) return response
      if (number % 4 === 0) return new Response('<html>Bad Gateway</html>', { status: 502 })
      if (number % 17 !== 0) return response
      reached.resolve()
      return new Promise(() => undefined)
    }
    const loses = (outbound: { method: string; url: string }) => isCreate(outbound) && replies++ % 3 === 0
    let kills = 0
    for (let rounds = 0; world.deliveries().some(({ status }) => status !== 'delivered'); rounds++) {
      if (rounds > 200) throw new Error(world.summary().join())
      world.wayOut.loses = loses
      const next = await killed(world, reached.promise, join(folder, `${rounds}.db`))
      if (next) {
        kills++
        world = next
        reached = Promise.withResolvers()
        continue
      }
      clock.advance(5 * SECOND_MS)
      world.clock.set(clock.now())
    }
    expect(kills).toBeGreaterThan(3)
    expect(creates).toBeGreaterThan(100)
    expect(server.tickets).toHaveLength(100)
    for (let index = 0; index < 100; index++) {
      const ticket = server.tickets.find(({ fields }) => fields.labels.includes(`tagwarden-iss_${index}`))
      expect(world.issueRow(`iss_${index}`)?.trackerKey).toBe(ticket?.key ?? '')
    }
    world.db.close()
    rmSync(folder, { recursive: true })
  })
})
