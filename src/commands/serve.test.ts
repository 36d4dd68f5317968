import { expect, test } from 'bun:test'
import { startServer, temporaryFolder, until } from '../../test/process.ts'

test('serve says where it listens and that nobody owns the folder, and ends well at SIGTERM', async () => {
  using folder = temporaryFolder()
  await using server = await startServer(folder.path)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  await until('the warning', () => server.log().includes('nobody owns this data folder yet'))
  expect(server.log()).toContain(`tagwarden init --data ${folder.path}`)
  await server.stop('SIGTERM')
  expect(server.code()).toBe(0)
})
