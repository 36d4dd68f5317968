import { test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { testApp } from '../test-app.ts'
import { attackScreenshots } from './screenshot-attacks.ts'

test('screenshots show neither personal data nor secrets, and only users with permission can see them', async () => {
  await using world = await testApp({
    chromium: await installedChromium(),
    outboundAllow: '127.0.0.1',
    publicUrl: 'https://watch.example',
  })
  await attackScreenshots({
    call: (method, path, body, as) =>
      world.call(method, path, { ...(body && { body }), ...(as === undefined ? {} : { as }) }),
    async get(path, as = world.owner.apiKey) {
      const headers: Record<string, string> = as === null ? {} : { authorization: `Bearer ${as}` }
      const answer = await world.app.fetch(new Request(`http://localhost${path}`, { headers }))
      return { status: answer.status, bytes: await answer.bytes() }
    },
    async ended() {
      await world.app.idle()
      world.clock.advance(MINUTE_MS)
    },
  })
})
