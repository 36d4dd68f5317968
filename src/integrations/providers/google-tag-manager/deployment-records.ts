import type { Instant } from '../../../core/clock.ts'
import type { IntegrationContext } from '../provider-context.ts'
import type { Deployed } from './deploy-schemas.ts'
import type { CreatedEntities } from './deploy-tag.ts'
import type { Stage } from './progress.ts'

/** What is known of the last deployment into a container. */
export interface DeploymentRecord extends Stage {
  /** SHA-256 of what was asked for. */
  request: string
  /** `running` where nothing runs: the server was stopped in the middle. */
  status: 'running' | 'done' | 'failed'
  error: string | null
  made: CreatedEntities
  /** Null while it is not done. */
  deployed: Deployed | null
  endedAt: Instant | null
  /** True when somebody who asked for it was told how it ended. */
  isTold: boolean
}

/** What is known of a container that was deployed. */
export interface WatchRecord {
  domainId: string
  publicId: string
  /** The last live version that was seen; null: none was published. */
  liveVersion: string | null
  /** The version to which our workspace was brought last. */
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
