import type { Instant } from '../core/clock.ts'
import type { IntegrationContext } from '../integrations/providers/provider-context.ts'
import type { Deployed } from './deploy-schemas.ts'
import type { CreatedEntities } from './deploy-tag.ts'
import type { Stage } from './progress.ts'

/** Record of the most recent deployment into a container. */
export interface DeploymentRecord extends Stage {
  /** SHA-256 of the request. */
  request: string
  /** If it is `running` but no deployment is in progress, the server was stopped during the deployment. */
  status: 'running' | 'done' | 'failed'
  error: string | null
  made: CreatedEntities
  /** Null until the deployment is done. */
  deployed: Deployed | null
  endedAt: Instant | null
  /** True once a caller has received the result. */
  isTold: boolean
}

/** Record for watching a container that has a deployment. */
interface WatchRecord {
  domainId: string
  publicId: string
  /** The most recently seen live version. Null if no version was published. */
  liveVersion: string | null
  /** The version that the Tagwarden workspace was most recently synced to. Null if unknown. */
  broughtTo: string | null
}

type Context = Pick<IntegrationContext, 'record' | 'records' | 'saveRecord'>

const DEPLOYMENT = 'deployment '
const WATCH = 'watch '

export const deploymentOf = (context: Context, containerPath: string): DeploymentRecord | null =>
  context.record(DEPLOYMENT + containerPath) as DeploymentRecord | null

export const saveDeployment = (context: Context, containerPath: string, record: DeploymentRecord): void =>
  context.saveRecord(DEPLOYMENT + containerPath, record)

export const watchOf = (context: Context, containerPath: string): WatchRecord | null =>
  context.record(WATCH + containerPath) as WatchRecord | null

export const saveWatch = (context: Context, containerPath: string, record: WatchRecord): void =>
  context.saveRecord(WATCH + containerPath, record)

export function watchedContainers(context: Context): { containerPath: string; watch: WatchRecord }[] {
  return context
    .records()
    .filter(({ key }) => key.startsWith(WATCH))
    .map(({ key, value }) => ({ containerPath: key.slice(WATCH.length), watch: value as WatchRecord }))
}
