import { join } from 'node:path'
import { receiver } from '../../src/integrations/transport/receiver.fixture.ts'
import { initialize, startServer, temporaryFolder, WEBHOOK_SECRET, watch } from '../process.ts'

/** A server with a property whose leaked e-mail addresses are told to a webhook receiver. Gone at the end of its block. */
export async function watchedShop() {
  const folder = temporaryFolder()
  const hooks = receiver()
  const data = join(folder.path, 'data')
  const apiKey = await initialize(data)
  const server = await startServer(data, { env: { TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1' } })
  const property = { name: 'shop.example', hookUrl: hooks.url, secret: WEBHOOK_SECRET }
  const { token } = await watch(server.url, apiKey, property)
  return {
    ...{ server, hooks, apiKey, token },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await hooks[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
