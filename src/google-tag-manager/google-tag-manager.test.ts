import { describe, expect, test } from 'bun:test'
import { openImage } from '../integrations/delivery/kill-table.fixture.ts'
import { tagManagerFixture } from './google-tag-manager.fixture.ts'
import { CONTAINER, type FakeEntity, type RecordedRequest } from './google-tag-manager-server.fixture.ts'

const writes = (asked: readonly RecordedRequest[]) => asked.filter(({ method }) => method !== 'GET')
const value = (key: string, text: unknown) => ({ type: 'template', key, value: text })
const entry = (name: string) => value(name, `{{${name}}}`)
/** Calls that would create or publish a version. */
const publishing = (asked: readonly RecordedRequest[]) =>
  asked.filter(({ method, path }) => /create_version|publish|:set_latest|:undelete/.test(path) || method === 'DELETE')

describe('a deployment', () => {
  test('creates a workspace, template, trigger and tag, and publishes nothing', async () => {
    await using env = tagManagerFixture()
    const { server } = env
    const { connect, passing, deployAll } = env.start()
    await connect()
    const purchase = server.give('tags', { name: 'Purchase', type: 'html', notes: 'as it was' })
    const other = server.give('tags', { name: 'Lead', type: 'html' })
    for (const name of ['Order ID', 'User']) server.give('variables', { name, type: 'v' })
    const { status, body } = await passing(
      deployAll({
        tagName: 'Watcher',
        customerIdVariable: 'User',
        whitelistedDomains: ['shop.example', '*.blog.example'],
        selectedTags: { [purchase]: ['Order ID', 'Page URL'], [other]: [] },
      }),
    )
    const space = server.space('Tagwarden')
    const workspacePath = space?.about.path
    const named = { workspacePath, workspaceName: 'Tagwarden', workspaceCreated: true }
    expect([status, body]).toEqual([200, { deployed: true, ...named, template: 'new', tag: 'new', monitoredTags: 2 }])
    const [template] = space?.templates ?? []
    const [trigger] = space?.triggers ?? []
    expect(template).toMatchObject({ name: 'Tagwarden' })
    expect(template?.templateData).toContain('___SANDBOXED_JS_FOR_WEB_TEMPLATE___')
    expect(trigger).toMatchObject({
      name: 'Tagwarden',
      type: 'customEvent',
      customEventFilter: [{ type: 'matchRegex', parameter: [value('arg0', '{{_event}}'), value('arg1', '.*')] }],
    })
    expect(space?.tags.find(({ name }) => name === 'Watcher')).toMatchObject({
      type: `cvt_71_${template?.templateId}`,
      firingTriggerId: [trigger?.triggerId],
      tagFiringOption: 'oncePerEvent',
      parameter: [
        value('scriptUrl', expect.stringMatching(/^https:\/\/watch\.example\/t\/pt_.+\.js$/)),
        value('customerId', '{{User}}'),
        value('allowedDomains', 'shop.example,blog.example'),
        value('selectedTags', `${purchase},${other}`),
      ],
      monitoringMetadata: { type: 'map', map: [value('exclude', 'true')] },
      consentSettings: { consentStatus: 'notNeeded' },
    })
    expect(space?.tags.find(({ tagId }) => tagId === purchase)).toMatchObject({
      notes: 'as it was',
      monitoringMetadataTagNameKey: 'name',
      monitoringMetadata: { type: 'map', map: [entry('Order ID'), entry('Page URL')] },
    })
    const reported = space?.tags.find(({ tagId }) => tagId === other)
    expect([reported?.monitoringMetadataTagNameKey, reported?.monitoringMetadata]).toEqual(['name', undefined])
    expect(server.space('Default Workspace')?.tags.every((tag) => tag.monitoringMetadata === undefined)).toBe(true)
    expect(publishing(server.asked)).toEqual([])
  })

  test('with the same input writes nothing the second time', async () => {
    await using env = tagManagerFixture()
    const { connect, passing, deployAll } = env.start()
    await connect()
    const tag = env.server.give('tags', { name: 'Purchase', type: 'html' })
    const input = { selectedTags: { [tag]: ['Page URL'] }, customerIdVariable: 'Page URL' }
    await passing(deployAll(input))
    const before = env.server.asked.length
    const { body } = await passing(deployAll(input))
    expect(body).toMatchObject({ workspaceCreated: false, template: 'existing', tag: 'updated', monitoredTags: 1 })
    expect(writes(env.server.asked.slice(before))).toEqual([])
  })

  test('with different input writes only the differences and preserves entries created by other users', async () => {
    await using env = tagManagerFixture()
    const { server } = env
    const { connect, deploy } = env.start({ callsPerMinute: 6000 })
    server.behaviour.quota = 10_000
    await connect()
    const own = value('team', 'ads')
    const tag = server.give('tags', {
      name: 'Purchase',
      type: 'html',
      monitoringMetadataTagNameKey: 'tag',
      monitoringMetadata: { type: 'map', map: [own, value('Page URL', 'another')] },
    })
    server.give('variables', { name: 'Order ID', type: 'v' })
    await deploy({ selectedTags: { [tag]: ['Page URL', 'Order ID'] } })
    const present = () => server.space('Tagwarden')?.tags.find(({ tagId }) => tagId === tag)
    expect(present()?.monitoringMetadata).toEqual({ type: 'map', map: [own, entry('Page URL'), entry('Order ID')] })
    const before = server.asked.length
    const { body } = await deploy({ selectedTags: { [tag]: ['Order ID'] }, tagName: 'Another name' })
    expect(present()?.monitoringMetadata).toEqual({ type: 'map', map: [own, entry('Order ID')] })
    expect(body).toMatchObject({ template: 'existing', tag: 'updated' })
    expect(server.space('Tagwarden')?.tags.map(({ name }) => name)).toEqual(['Purchase', 'Another name'])
    expect(writes(server.asked.slice(before)).map(({ method }) => method)).toEqual(['PUT', 'PUT'])
  })
})

/** Adds 60 selectable tags to a container, and other tags that must not change. */
function large(server: ReturnType<typeof tagManagerFixture>['server']) {
  const selected = Array.from({ length: 60 }, (_, n) =>
    server.give('tags', {
      name: `Tag ${n}`,
      type: n % 2 ? 'html' : 'gaawe',
      parameter: [value('html', `<script>/* ${n} \u2028 " */</script>`)],
      priority: { type: 'integer', value: String(n) },
      scheduleStartMs: '1700000000000',
      futureField: { deep: [{ n }] },
    }),
  )
  const others = Array.from({ length: 30 }, (_, n) => server.give('tags', { name: `Other ${n}`, type: 'img', n }))
  return { selected, others, selectedTags: Object.fromEntries(selected.map((id) => [id, ['Page URL']])) }
}

/** The fields of a tag that Tagwarden does not manage. */
function rest({
  monitoringMetadata: _a,
  monitoringMetadataTagNameKey: _b,
  fingerprint: _c,
  ...others
}: FakeEntity): string {
  return JSON.stringify(others)
}

/** Maximum number of calls in any period of 100 s. */
const mostInWindow = (asked: readonly RecordedRequest[]) =>
  Math.max(...asked.map(({ at }) => asked.filter((one) => one.at >= at && one.at < at + 100_000).length))

describe('sixty tags that exceed the quota', () => {
  test('are deployed in one run with visible progress, and other tags are unchanged', async () => {
    await using env = tagManagerFixture()
    const { server } = env
    const fixture = env.start()
    await fixture.connect()
    const { selected, others, selectedTags } = large(server)
    const before = new Map(server.space('Default Workspace')?.tags.map((tag) => [tag.tagId, rest(tag)]))
    const answers: number[] = []
    const seen: { callsDone: number; callsTotal: number; waitsUntil: number | null }[] = []
    const { body } = await fixture.passing(
      (async () => {
        for (;;) {
          const answer = await fixture.deploy({ selectedTags })
          answers.push(answer.status)
          if (answer.status !== 503) return answer
          expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
          seen.push(await fixture.status())
        }
      })(),
    )
    expect(body).toMatchObject({ workspaceCreated: true, template: 'new', tag: 'new', monitoredTags: 60 })
    expect(answers.length).toBeGreaterThan(1)
    expect(seen.every(({ callsDone, callsTotal }) => callsDone < callsTotal && callsDone > 0)).toBe(true)
    expect(seen.some(({ waitsUntil }) => waitsUntil !== null)).toBe(true)
    const calls = server.asked.length
    expect(await fixture.status()).toEqual({
      status: 'done',
      callsDone: calls,
      callsTotal: calls,
      waitsUntil: null,
      error: null,
    })
    const tags = server.space('Tagwarden')?.tags ?? []
    const path = server.space('Tagwarden')?.about.path ?? ''
    const inOurs = (text = '') => text.replace(`${CONTAINER}/workspaces/2`, path)
    for (const id of [...selected, ...others]) {
      const tag = tags.find(({ tagId }) => tagId === id) as FakeEntity
      expect(rest(tag)).toBe(inOurs(before.get(id)))
      expect(tag.monitoringMetadata !== undefined).toBe(selected.includes(id))
    }
    expect(mostInWindow(server.asked)).toBeLessThanOrEqual(25)
    expect(server.asked.filter(({ status }) => status !== 200)).toEqual([])
    expect(new Set(writes(server.asked).map(({ path }) => path)).size).toBe(writes(server.asked).length)
    expect(publishing(server.asked)).toEqual([])
  })

  test('are completed after a crash without repeating a write', async () => {
    await using env = tagManagerFixture()
    const { server } = env
    const fixture = env.start()
    await fixture.connect()
    const { selectedTags } = large(server)
    let killed: { image: Buffer; at: number } | null = null
    fixture.network.afterCall = (_outbound, reply) => {
      if (!killed && server.asked.length === 45) killed = fixture.kill()
      return reply
    }
    await fixture.passing(fixture.deployAll({ selectedTags }))
    const { image, at } = killed as unknown as { image: Buffer; at: number }
    expect(server.asked).toHaveLength(45)
    const next = env.start({ saved: { db: openImage(image, fixture.db), people: fixture.people, at } })
    expect(await next.status()).toMatchObject({ status: 'failed', error: expect.stringContaining('was stopped') })
    const { body } = await next.passing(next.deployAll({ selectedTags }))
    expect(body).toMatchObject({ workspaceCreated: true, template: 'new', tag: 'new', monitoredTags: 60 })
    expect(new Set(writes(server.asked).map(({ path }) => path)).size).toBe(writes(server.asked).length)
    expect(server.space('Tagwarden')?.tags.filter((tag) => tag.monitoringMetadata)).toHaveLength(61)
    expect(mostInWindow(server.asked)).toBeLessThanOrEqual(25)
    expect(server.asked.filter(({ status }) => status !== 200)).toEqual([])
  })
})

test('repeating a request after a crash before or after any call creates no duplicates', async () => {
  const image = await connectedImage()
  let calls = Number.POSITIVE_INFINITY
  for (let call = 1; call <= calls; call++) {
    for (const isDone of [false, true]) {
      await using env = tagManagerFixture()
      const { server } = env
      server.behaviour.quota = 10_000
      const tag = server.give('tags', { name: 'Purchase', type: 'html' })
      const input = { customerIdVariable: 'Page URL', selectedTags: { [tag]: ['Page URL'] } }
      const fixture = env.start({ callsPerMinute: 60_000, saved: image() })
      let seen = 0
      let killed: { image: Buffer; at: number } | null = null
      fixture.network.instead = () => {
        if (killed) return { kind: 'error', message: 'killed', permanent: true }
        if (++seen !== call || isDone) return null
        killed = fixture.kill()
        return { kind: 'error', message: 'killed', permanent: true }
      }
      fixture.network.afterCall = (_outbound, reply) => {
        if (seen === call && isDone) killed ??= fixture.kill()
        return reply
      }
      await fixture.deploy(input)
      const left = killed as { image: Buffer; at: number } | null
      if (!left) calls = seen
      if (!left) continue
      const next = env.start({
        callsPerMinute: 60_000,
        saved: { db: openImage(left.image, fixture.db), people: fixture.people, at: left.at },
      })
      const { status, body } = await next.deploy(input)
      const what = `call ${call}, ${isDone ? 'done' : 'not done'}`
      expect([what, status, body]).toMatchObject([what, 200, { workspaceCreated: true, template: 'new', tag: 'new' }])
      const space = server.space('Tagwarden')
      const counts = [server.spaces.size, space?.templates.length, space?.triggers.length, space?.tags.length]
      expect([what, counts]).toEqual([what, [2, 1, 1, 2]])
      expect([what, next.reported]).toEqual([what, []])
    }
  }
  expect(calls).toBeGreaterThan(12)
})

/** Returns a factory for the saved state of a server whose integration is connected. */
async function connectedImage() {
  await using env = tagManagerFixture()
  const { connect, db, people, clock } = env.start()
  await connect()
  const image = db.serialize()
  return () => ({ db: openImage(image, db), people, at: clock.now() })
}
