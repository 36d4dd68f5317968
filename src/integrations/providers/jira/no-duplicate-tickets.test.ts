import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SECOND_MS } from '../../../core/clock.ts'
import { openDatabase } from '../../../store/database.ts'
import { recoverInterrupted } from '../../delivery/delivery-queues.ts'
import { isCreate, type JiraFixture, jiraFixture, requestsSince } from './jira.fixture.ts'
import { jiraServer } from './jira-server.fixture.ts'

/** Opens a database without syncing writes, because these tests do not simulate power failures. */
function opened(file: string) {
  const db = openDatabase(file)
  db.pragma('synchronous = OFF')
  return db
}

describe('a ticket', () => {
  test('is created once if the response is lost and the search index is delayed', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    server.behaviour.searchLagMs = 20 * SECOND_MS
    const { id } = await fixture.connected(server)
    let lost = 0
    fixture.network.losesResponse = (outbound) => isCreate(outbound) && lost++ === 0
    await fixture.opened(id)
    for (let seconds = 0; seconds < 25; seconds++) {
      fixture.clock.advance(SECOND_MS)
      await fixture.deliver()
    }
    expect(fixture.summary()).toEqual(['opened delivered'])
    expect(server.tickets).toHaveLength(1)
    expect(fixture.issueRow()?.trackerKey).toBe('OPS-1')
  })

  test('is created again only if the search finds no ticket for a minute', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    let refused = 0
    server.behaviour.instead = ({ method, path }) =>
      isCreate({ method, url: path }) && refused++ === 0 ? new Response('', { status: 502 }) : null
    await fixture.opened(id)
    const looksUntil = async (untilS: number) => {
      for (; fixture.clock.now() < startedAt + untilS * SECOND_MS; fixture.clock.advance(SECOND_MS))
        await fixture.deliver()
      return requestsSince(server).filter((one) => one === 'POST /search/jql').length
    }
    const startedAt = fixture.clock.now()
    expect(await looksUntil(29)).toBe(6)
    expect(server.tickets).toEqual([])
    await looksUntil(32)
    expect(server.tickets).toHaveLength(1)
    expect(fixture.summary()).toEqual(['opened delivered'])
  })

  test('does not delay tickets of other issues while it is being searched for', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    server.behaviour.instead = ({ method, path }) =>
      isCreate({ method, url: path }) ? new Response('', { status: 502 }) : null
    await fixture.opened(id)
    server.behaviour.instead = () => null
    fixture.clock.advance(6 * SECOND_MS)
    await fixture.deliver()
    await fixture.opened(id, 'iss_2')
    expect(fixture.summary()).toEqual(['opened pending', 'opened delivered'])
  })

  test('is not created again when a copy of it has the same label', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    for (const summary of ['the first', 'its copy']) server.make('OPS', { summary, labels: ['tagwarden-iss_1'] })
    await fixture.opened(id)
    expect(fixture.issueRow()?.trackerKey).toBe('OPS-1')
    expect(server.tickets).toHaveLength(2)
  })

  test.each([1, 2, 3, 4, 5, 6])(
    'and its comments are created once if the server is killed after request %i',
    async (kill) => {
      const folder = mkdtempSync(join(tmpdir(), 'tagwarden-tickets-'))
      let fixture = jiraFixture(opened(join(folder, 'start.db')))
      await using server = jiraServer(fixture.clock)
      const { id } = await fixture.connected(server)
      const reached = Promise.withResolvers<void>()
      let requests = 0
      server.behaviour.after = (_request, response) => {
        if (++requests !== kill) return response
        reached.resolve()
        return new Promise(() => undefined)
      }
      fixture.issue()
      for (const transition of ['opened', 'repeated', 'resolved'] as const) fixture.enqueueTransition(id, transition)
      fixture = (await killed(fixture, reached.promise, join(folder, 'after.db'))) ?? fixture
      for (let seconds = 0; seconds <= 70; seconds += 5) {
        await fixture.deliver()
        fixture.clock.advance(5 * SECOND_MS)
      }
      expect(requests).toBeGreaterThanOrEqual(kill)
      expect(fixture.summary()).toEqual(['opened delivered', 'repeated delivered', 'resolved delivered'])
      expect(server.tickets.map(({ comments }) => comments.length)).toEqual([2])
      fixture.db.close()
      rmSync(folder, { recursive: true })
    },
  )

  /** Kills the server when `reached` resolves, and restarts it. Null if the server finished first. */
  async function killed(fixture: JiraFixture, reached: Promise<void>, file: string): Promise<JiraFixture | null> {
    const isReached = await Promise.race([reached.then(() => true), fixture.deliver().then(() => false)])
    if (!isReached) return null
    // Copies the database in the state that a crash leaves, without later writes.
    fixture.db.prepare('VACUUM INTO ?').run(file)
    fixture.stopping.abort()
    await fixture.dispatcher.idle()
    fixture.db.close()
    const db = opened(file)
    recoverInterrupted(db)
    const after = jiraFixture(db, fixture.people)

    after.clock.set(fixture.clock.now())
    return after
  }

  test('is created once per issue in 100 runs with lost responses, 502s after success, crashes and a 5 s search delay', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tagwarden-tickets-'))
    let fixture = jiraFixture(opened(join(folder, 'start.db')))
    const clock = fixture.clock
    await using server = jiraServer(clock)
    server.behaviour.searchLagMs = 5 * SECOND_MS
    const { id } = await fixture.connected(server)
    for (let index = 0; index < 100; index++) fixture.enqueueTransition(id, 'opened', fixture.issue(`iss_${index}`))
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
    const losesResponse = (outbound: { method: string; url: string }) => isCreate(outbound) && replies++ % 3 === 0
    let kills = 0
    for (let rounds = 0; fixture.deliveries().some(({ status }) => status !== 'delivered'); rounds++) {
      if (rounds > 200) throw new Error(fixture.summary().join())
      fixture.network.losesResponse = losesResponse
      const next = await killed(fixture, reached.promise, join(folder, `${rounds}.db`))
      if (next) {
        kills++
        fixture = next
        reached = Promise.withResolvers()
        continue
      }
      clock.advance(5 * SECOND_MS)
      fixture.clock.set(clock.now())
    }
    expect(kills).toBeGreaterThan(3)
    expect(creates).toBeGreaterThan(100)
    expect(server.tickets).toHaveLength(100)
    for (let index = 0; index < 100; index++) {
      const ticket = server.tickets.find(({ fields }) => fields.labels.includes(`tagwarden-iss_${index}`))
      expect(fixture.issueRow(`iss_${index}`)?.trackerKey).toBe(ticket?.key ?? '')
    }
    fixture.db.close()
    rmSync(folder, { recursive: true })
  })
})
