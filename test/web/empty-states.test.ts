import { test } from 'bun:test'
import { openAs, sharedTestServer } from './test-server.ts'

const here = sharedTestServer()

test.each([
  ['/', 'link', 'Add a domain'],
  ['/alerts', 'link', 'New alert'],
  ['/signals', 'link', 'Add a domain'],
  ['/domains', 'link', 'Add a domain'],
  ['/changes', 'button', 'Record a change'],
  ['/tests', 'link', 'New test'],
  ['/audits', 'link', 'New audit'],
  ['/integrations', 'link', 'Connect'],
  ['/deliveries', 'link', 'New alert'],
  ['/report', 'link', 'Previous week'],
  ['/explore/labels', 'button', 'New label'],
  ['/settings/projects', 'button', 'New project'],
])('the empty page %s offers the %s %s', async (path, role, name) => {
  await openAs(here.screen, here.server.app.owner.apiKey, path)
  await here.screen.sees(role, name)
})
