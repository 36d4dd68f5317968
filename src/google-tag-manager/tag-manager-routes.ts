import { AppError } from '../core/error.ts'
import { Closed } from '../core/schema.ts'
import { type Route, route } from '../http/route.ts'
import {
  ContainerPath,
  DeployedSchema,
  type DeployInput,
  DeployInputSchema,
  DeployStatusSchema,
  isDomain,
  type TagList,
  TagListSchema,
} from './deploy-schemas.ts'
import { NO_PROGRESS, Progress, type Stage } from './progress.ts'
import { type Context, Deployments, type Tools } from './tag-deployments.ts'
import { tagListOf } from './tag-list.ts'
import { TagManagerApi } from './tag-manager-api.ts'
import { refuseWhenBusy, retryAfterS, withWaitLimit } from './wait-limit.ts'

const tag = 'Integrations'
/** Maximum size of a request body, sufficient for a deployment that lists all tags in a large container. */
const DEPLOY_BODY_BYTES = 1024 * 1024
const ByContainer = Closed({ containerPath: ContainerPath })

/** Routes for deploying the Tagwarden tag, reading the deployment status, and listing a container's tags. */
export function tagManagerRoutes(tools: Tools): Route[] {
  const deployments = new Deployments(tools)
  const lists = new TagLists(tools)
  return [
    deployRoute(tools, deployments),
    route({
      id: 'getTagDeployment',
      method: 'GET',
      path: '/v1/integrations/tag_manager/deploy',
      access: 'read',
      tag,
      summary: 'Get the status of the most recent deployment into a container',
      tool: true,
      query: ByContainer,
      answer: DeployStatusSchema,
      handle({ principal: { orgId }, query: { containerPath }, signal }) {
        const [id] = tools.integrations(orgId)
        return deployments.status(id === undefined ? null : tools.open({ orgId, id }, signal), containerPath)
      },
    }),
    route({
      id: 'listContainerTags',
      method: 'GET',
      path: '/v1/integrations/tag_manager/tags',
      access: 'read',
      tag,
      summary: 'List the tags and variables of a Google Tag Manager container',
      description: 'Reads the workspace `Tagwarden`, or the default workspace if `Tagwarden` does not exist.',
      refusals: ['conflict', 'upstream', 'unavailable'],
      tool: true,
      query: ByContainer,
      answer: TagListSchema,
      handle: ({ principal: { orgId }, query: { containerPath }, signal }) =>
        lists.read(contextOf(tools, orgId, signal), containerPath),
    }),
  ]
}

function deployRoute(tools: Tools, deployments: Deployments): Route {
  return route({
    id: 'deployTags',
    method: 'POST',
    path: '/v1/integrations/tag_manager/deploy',
    access: 'configure',
    tag,
    summary: 'Deploy the Tagwarden template, trigger and tag into a Google Tag Manager container, without publishing',
    description:
      'Responds within 50 s. Google allows 15 calls per minute, so a deployment can take longer. In this case, the response ' +
      'is 503 with `Retry-After`, and the deployment continues. Repeat the same request to wait for it.',
    refusals: ['notFound', 'conflict', 'upstream', 'unavailable'],
    asynchronous: true,
    maxBodyBytes: DEPLOY_BODY_BYTES,
    body: DeployInputSchema,
    answer: DeployedSchema,
    handle({ principal: { orgId }, body, signal }) {
      checkContainer(body)
      checkDomains(body)
      tools.scriptUrlOf({ orgId, id: body.domainId })
      return deployments.deploy(contextOf(tools, orgId, signal), body)
    },
    note: ({ body: { domainId, containerPath, container } }) => ({
      domainId,
      containerPath,
      publicId: container.publicId,
    }),
    target: ({ workspacePath }) => workspacePath,
  })
}

/** Fails with `invalid` if `container` and `containerPath` do not match. */
function checkContainer({ containerPath, container }: DeployInput): void {
  const [, accountId, , containerId] = containerPath.split('/')
  for (const [field, id] of Object.entries({ accountId, containerId })) {
    const given = container[field as 'accountId' | 'containerId']
    if (given === id) continue
    throw new AppError('invalid', `container.${field}: is ${given}, but containerPath contains ${id}`)
  }
}

function checkDomains({ whitelistedDomains = [] }: DeployInput): void {
  const index = whitelistedDomains.findIndex((domain) => !isDomain(domain))
  if (index !== -1)
    throw new AppError('invalid', `whitelistedDomains[${index}]: must be a hostname, such as shop.example`)
}

function contextOf(tools: Tools, orgId: string, signal: AbortSignal): Context {
  const [id] = tools.integrations(orgId)
  if (id === undefined) throw new AppError('conflict', 'no tag_manager integration is connected')
  return tools.open({ orgId, id }, signal)
}

/**
 * Tag lists that are being fetched. Concurrent requests for the same container share one fetch, because every call
 * counts against the quota.
 */
class TagLists {
  private readonly running = new Map<string, { done: Promise<TagList>; stage: Stage }>()

  constructor(private readonly tools: Tools) {}

  async read(context: Context, containerPath: string): Promise<TagList> {
    const key = `${context.integrationId} ${containerPath}`
    const { done, stage } = this.running.get(key) ?? this.start(context, containerPath, key)
    const late = () =>
      new AppError(
        'unavailable',
        'still waiting for the Tag Manager quota; try again later',
        retryAfterS(stage, context),
      )
    return withWaitLimit(done, { clock: context, left: context.signal, late })
  }

  private start({ orgId, integrationId }: Context, containerPath: string, key: string) {
    refuseWhenBusy(this.running, integrationId)
    const stage = { ...NO_PROGRESS }
    const progress = new Progress((present) => void Object.assign(stage, present))
    const done = this.tools
      .runInBackground({ orgId, id: integrationId ?? '' }, (context) =>
        tagListOf(new TagManagerApi(context, progress), containerPath),
      )
      .finally(() => this.running.delete(key))
    done.catch(() => undefined)
    this.running.set(key, { done, stage })
    return { done, stage }
  }
}
