import { DELIVERED, type Outcome } from '../../reply.ts'
import { originOf } from '../../transport/address-guard.ts'
import type { AccessTokens, IntegrationContext } from '../context.ts'
import { provider } from '../provider.ts'
import { IMPATIENT, TagManagerApi } from './api.ts'
import { Progress } from './progress.ts'
import { tagManagerRoutes } from './routes.ts'
import { apiUrl, ConfigSchema, OPERATOR, prepare, SECRETS, type Settings } from './settings.ts'
import { WATCH_EVERY_MS, watchContainers } from './watch.ts'

/** Google Tag Manager, API v2: puts our tag into containers, and watches which version of them is live. */
export const tagManager = provider<Settings, unknown, AccessTokens>({
  type: 'tag_manager',
  title: 'Google Tag Manager',
  help: 'Puts the Tagwarden tag into containers, and notices when another version of them goes live.',
  operator: OPERATOR,
  configured: {
    form: ConfigSchema,
    prepare: (config, _guard, given) => prepare(config, given),
    single: true,
  },
  connect: { by: 'secret', fields: SECRETS },
  origin: (_settings, operator) => originOf(apiUrl(operator)),
  test: listContainers,
  poll: { everyMs: () => WATCH_EVERY_MS, run: watchContainers },
  routes: tagManagerRoutes,
})

/** Lists containers until there is one: the sign-in works, and somebody has let it in. */
async function listContainers(context: IntegrationContext<Settings, AccessTokens>): Promise<Outcome> {
  const api = new TagManagerApi(context, new Progress(), IMPATIENT)
  for (const { path } of await api.list<{ path: string }>('accounts', 'account')) {
    const containers = await api.list<object>(`${path}/containers`, 'container')
    if (containers.length > 0) return DELIVERED
  }
  return {
    verdict: 'broken',
    reason:
      'no container is to be seen: add whom the integration signs in as to the users of the container in Tag Manager',
  }
}
