import { PROVIDER_TITLES } from '../contract/products.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { oneLine } from '../core/text.ts'
import { DELIVERED, type Outcome } from '../integrations/delivery-outcome.ts'
import { connector } from '../integrations/providers/connector.ts'
import type { AccessTokens, IntegrationContext } from '../integrations/providers/provider-context.ts'
import { originOf } from '../transport/address-guard.ts'
import { saveWatch, watchedContainers, watchOf } from './deployment-records.ts'
import { Progress } from './progress.ts'
import type { Context } from './tag-deployments.ts'
import { Refused, TagManagerApi, WITHOUT_RETRIES } from './tag-manager-api.ts'
import { apiUrl, ConfigSchema, OPERATOR, prepareTagManager, SECRETS, type Settings } from './tag-manager-config.ts'
import { tagManagerRoutes } from './tag-manager-routes.ts'
import { liveVersionOf } from './tag-manager-workspace.ts'

/** Google Tag Manager, API v2. Deploys the Tagwarden tag into containers and watches their live versions. */
export const googleTagManager = connector<Settings, unknown, AccessTokens>({
  type: 'tag_manager',
  title: PROVIDER_TITLES.tag_manager,
  help: 'Adds the Tagwarden tag to containers and records when a new container version goes live.',
  secrets: { fields: SECRETS, derived: () => [] },
  operator: OPERATOR,
  notifies: false,
  test: listContainers,
  configuration: {
    schema: ConfigSchema,
    prepare: (config, _guard, given) => prepareTagManager(config, given),
    perOrganization: 'one',
    exclusive: [],
    isComplete: () => true,
    origin: (_settings, operator) => originOf(apiUrl(operator)),
  },
  connection: { by: 'settings' },
  inbound: [{ by: 'poll', everyMs: () => WATCH_EVERY_MS, run: watchContainers }],
  routes: tagManagerRoutes,
})

/** Checks that the sign-in works and that at least one container is accessible. */
async function listContainers(context: IntegrationContext<Settings, AccessTokens>): Promise<Outcome> {
  const api = new TagManagerApi(context, new Progress(), WITHOUT_RETRIES)
  for (const { path } of await api.list<{ path: string }>('accounts', 'account')) {
    const containers = await api.list<object>(`${path}/containers`, 'container')
    if (containers.length > 0) return DELIVERED
  }
  return {
    verdict: 'broken',
    reason: "no container is accessible: in Tag Manager, add the integration's account as a user of the container",
  }
}

/** Pause between polls. Together with the duration of the poll itself, each container is checked every 10 min. */
const WATCH_EVERY_MS = 10 * MINUTE_MS - 30 * SECOND_MS

/** Checks the live version of each container with a deployment, and records a new version as a change to the domain. */
async function watchContainers(context: Context): Promise<void> {
  const api = new TagManagerApi(context, new Progress())
  const containers = watchedContainers(context)
  const refusals: Refused[] = []
  for (const { containerPath } of containers) {
    try {
      await watchContainer(context, api, containerPath)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      refusals.push(error)
    }
  }
  // Losing access to a single container does not count as a failure of the integration.
  const [first] = refusals
  if (first && refusals.length === containers.length) throw first
}

async function watchContainer(context: Context, api: TagManagerApi, containerPath: string): Promise<void> {
  const live = await liveVersionOf(api, containerPath)
  // Read after the call because a deployment may have changed it during the call.
  const watch = watchOf(context, containerPath)
  if (!watch || !live || live.containerVersionId === watch.liveVersion) return
  const { containerVersionId: version, name = '' } = live
  const { domainId, publicId } = watch
  const title = oneLine(name, 200) || `${publicId} version ${version}`
  const ref = `${publicId} ${version}`
  context.noteChange({ domainId, source: 'tag_manager', ref, title, occurredAt: context.now() })
  saveWatch(context, containerPath, { ...watch, liveVersion: version })
}
