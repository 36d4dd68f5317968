import { describe, expect, test } from 'bun:test'
import { testClock } from '../../../../test/fakes.ts'
import { tagManagerServer } from './tag-manager-server.fixture.ts'
import { tagManagerWorld } from './tag-manager-world.fixture.ts'

/** A server whose clock follows that of whichever world there is. */
function there() {
  const clock = testClock()
  const now = { of: clock as { now(): number } }
  const server = tagManagerServer({ now: () => now.of.now() })
  const world = (before?: Parameters<typeof tagManagerWorld>[1]) => {
    const made = tagManagerWorld(server, before)
    now.of = made.clock
    return made
  }
  return { server, world }
}

const writes = (asked: readonly { method: string }[]) => asked.filter(({ method }) => method !== 'GET')

describe('a deployment', () => {
  test('puts workspace, template, trigger and tag there, and publishes nothing', async () => {
    const { server, world } = there()
    await using _ = server
    const { connect, passing, deployAll, domainId } = world()
    await connect()
    const purchase = server.give('tags', { name: 'Purchase', type: 'html', notes: 'as it was' })
    server.give('variables', { name: 'Order ID', type: 'v' })
    server.give('variables', { name: 'User', type: 'v' })
    const { status, body } = await passing(
      deployAll({
        tagName: 'Watcher',
        customerIdVariable: 'User',
        whitelistedDomains: ['shop.example'],
        selectedTags: { [purchase]: ['Order ID', 'Page URL'] },
      }),
    )
    const space = server.space('Tagwarden')
    expect([status, body]).toEqual([
      200,
      {
        deployed: true,
        workspacePath: space?.about.path,
        workspaceName: 'Tagwarden',
        workspaceCreated: true,
        template: 'new',
        tag: 'new',
        monitoredTags: 1,
      },
    ])
    const [template] = space?.templates ?? []
    const [trigger] = space?.triggers ?? []
    expect(template?.name).toBe('Tagwarden')
    expect(template?.templateData).toContain('___SANDBOXED_JS_FOR_WEB_TEMPLATE___')
    expect(trigger).toMatchObject({ name: 'Tagwarden', type: 'customEvent' })
    const value = (key: string, text: string) => ({ type: 'template', key, value: text })
    expect(space?.tags.find(({ name }) => name === 'Watcher')).toMatchObject({
      type: `cvt_71_${template?.templateId}`,
      firingTriggerId: [trigger?.triggerId],
      tagFiringOption: 'oncePerEvent',
      parameter: [
        value('scriptUrl', expect.stringMatching(/^https:\/\/watch\.example\/t\/pt_.+\.js$/) as never),
        value('customerId', '{{User}}'),
        value('allowedDomains', 'shop.example'),
        value('selectedTags', purchase),
      ],
      monitoringMetadata: { type: 'map', map: [value('exclude', 'true')] },
      consentSettings: { consentStatus: 'notNeeded' },
    })
    expect(space?.tags.find(({ tagId }) => tagId === purchase)).toMatchObject({
      notes: 'as it was',
      monitoringMetadataTagNameKey: 'name',
      monitoringMetadata: {
        type: 'map',
        map: [value('Order ID', '{{Order ID}}'), value('Page URL', '{{Page URL}}')],
      },
    })
    expect(server.space('Default Workspace')?.tags.every((tag) => tag.monitoringMetadata === undefined)).toBe(true)
    expect(server.asked.filter(({ path }) => /create_version|publish|version_headers/.test(path))).toEqual([])
    expect(domainId).toStartWith('dom_')
  })

  test('that is made again writes nothing', async () => {
    const { server, world } = there()
    await using _ = server
    const { connect, passing, deployAll } = world()
    await connect()
    const tag = server.give('tags', { name: 'Purchase', type: 'html' })
    const input = { selectedTags: { [tag]: [] } }
    await passing(deployAll(input))
    const before = server.asked.length
    const { body } = await passing(deployAll(input))
    expect(body).toMatchObject({ workspaceCreated: false, template: 'existing', tag: 'updated', monitoredTags: 1 })
    expect(writes(server.asked.slice(before))).toEqual([])
  })
})
