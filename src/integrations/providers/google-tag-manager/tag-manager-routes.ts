import { AppError } from '../../../core/error.ts'
import { Closed } from '../../../core/schema.ts'
import { type Route, route } from '../../../http/route.ts'
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
import { type Context, Deployments, type Tools } from './deployments.ts'
import { NOTHING_DONE, Progress, type Stage } from './progress.ts'
import { tagListOf } from './tag-list.ts'
import { TagManagerApi } from './tag-manager-api.ts'
import { refuseWhenBusy, retryAfterS, withWaitLimit } from './wait-limit.ts'

const tag = 'Integrations'
/** Of a deployment that names the tags of a large container. */
const DEPLOY_BODY_BYTES = 1024 * 1024
const ByContainer = Closed({ containerPath: ContainerPath })

/** Rows 7 and 9 of the interface, and how far a deployment is. */
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
      summary: 'How far the deployment into a container is, and what it waits for',
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
      summary: 'Tags and variables of a container of Google Tag Manager',
      description: 'Read in the workspace `Tagwarden`, or in the default one while there is none.',
      refusals: ['conflict', 'upstream', 'unavailable'],
      tool: true,
      query: ByContainer,
      answer: TagListSchema,
      handle: ({ principal: { orgId }, query: { containerPath }, signal }) =>
        lists.ask(contextOf(tools, orgId, signal), containerPath),
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
    summary:
      'Put the template, trigger and tag of Tagwarden into a container of Google Tag Manager; nothing is published',
    description:
      'Answers within 50 s. A deployment that takes longer, because Google allows 15 calls a minute, is 503 with `Retry-After` ' +
      'and goes on: the same request again waits for it.',
    refusals: ['notFound', 'conflict', 'upstream', 'unavailable'],
    asynchronous: true,
    maxBodyBytes: DEPLOY_BODY_BYTES,
    body: DeployInputSchema,
    answer: DeployedSchema,
    handle({ principal: { orgId }, body, signal }) {
      checkContainer(body)
      checkDomains(body)
      tools.scriptUrlOf({ orgId, id: body.domainId })
      return deployments.ask(contextOf(tools, orgId, signal), body)
    },
    note: ({ body: { domainId, containerPath, container } }) => ({
      domainId,
      containerPath,
      publicId: container.publicId,
    }),
    target: ({ workspacePath }) => workspacePath,
  })
}

/** Fails with `invalid` when `container` is another one than `containerPath` names. */
function checkContainer({ containerPath, container }: DeployInput): void {
  const [, accountId, , containerId] = containerPath.split('/')
  for (const [field, id] of Object.entries({ accountId, containerId })) {
    const given = container[field as 'accountId' | 'containerId']
    if (given === id) continue
    throw new AppError('invalid', `container.${field}: is ${given}, but containerPath names ${id}`)
  }
}

function checkDomains({ whitelistedDomains = [] }: DeployInput): void {
  const index = whitelistedDomains.findIndex((domain) => !isDomain(domain))
  if (index !== -1) throw new AppError('invalid', `whitelistedDomains[${index}]: must be a host, such as shop.example`)
}

function contextOf(tools: Tools, orgId: string, signal: AbortSignal): Context {
  const [id] = tools.integrations(orgId)
  if (id === undefined) throw new AppError('conflict', 'no tag_manager integration is connected')
  return tools.open({ orgId, id }, signal)
}

/** Lists that are being read: who asks for the same meanwhile gets the same, because each call counts. */
class TagLists {
  private readonly underWay = new Map<string, { done: Promise<TagList>; stage: Stage }>()

  constructor(private readonly tools: Tools) {}

  async ask(context: Context, containerPath: string): Promise<TagList> {
    const key = `${context.integrationId} ${containerPath}`
    const { done, stage } = this.underWay.get(key) ?? this.begin(context, containerPath, key)
    const late = () => new AppError('unavailable', 'Tag Manager allows no more calls yet', retryAfterS(stage, context))
    return withWaitLimit(done, { clock: context, left: context.signal, late })
  }

  private begin({ orgId, integrationId }: Context, containerPath: string, key: string) {
    refuseWhenBusy(this.underWay, integrationId)
    const stage = { ...NOTHING_DONE }
    const progress = new Progress((present) => void Object.assign(stage, present))
    const done = this.tools
      .runInBackground({ orgId, id: integrationId ?? '' }, (context) =>
        tagListOf(new TagManagerApi(context, progress), containerPath),
      )
      .finally(() => this.underWay.delete(key))
    done.catch(() => undefined)
    this.underWay.set(key, { done, stage })
    return { done, stage }
  }
}
