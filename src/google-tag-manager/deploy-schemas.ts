import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'

export const ContainerPath = Type.String({
  pattern: String.raw`^accounts/\d+/containers/\d+$`,
  maxLength: 200,
  examples: ['accounts/6000000001/containers/7000001'],
})

/** A hostname, optionally with `*.` in front. */
const DOMAIN = String.raw`^(?:\*\.)?[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$`

export const DeployInputSchema = Closed(
  {
    domainId: Text(1, 100),
    containerPath: ContainerPath,
    container: Closed({
      name: Text(1, 500),
      publicId: Text(1, 100),
      accountId: Text(1, 100),
      containerId: Text(1, 100),
    }),
    tagName: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: 'Monitoring Tag' })),
    customerIdVariable: Type.Optional(
      Type.String({
        maxLength: 200,
        default: '',
        description: 'Name of the variable that contains the customer id; empty: none',
      }),
    ),
    sessionIdVariable: Type.Optional(
      Type.String({
        maxLength: 200,
        default: '',
        description: 'Name of the variable that contains the session id; empty: none',
      }),
    ),
    whitelistedDomains: Type.Optional(
      Type.Array(Type.String({ maxLength: 255 }), {
        maxItems: 100,
        default: [],
        description: 'Hostnames, including their subdomains, on which the tag runs; empty: all',
      }),
    ),
    selectedTags: Type.Optional(
      Type.Record(Type.String(), Type.Array(Text(1, 200), { maxItems: 50 }), {
        description:
          'Tags to report: maps each tag id to the names of variables to include in its reports. Empty: all tags, without variables',
      }),
    ),
  },
  {
    $id: 'TagDeployInput',
    examples: [
      {
        domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
        containerPath: 'accounts/6000000001/containers/7000001',
        container: { name: 'Shop', publicId: 'GTM-ABC1234', accountId: '6000000001', containerId: '7000001' },
        tagName: 'Monitoring Tag',
        selectedTags: { '12': ['Order ID'], '15': [] },
      },
    ],
  },
)
export type DeployInput = Static<typeof DeployInputSchema>

export const DeployedSchema = Closed(
  {
    deployed: Type.Boolean(),
    workspacePath: Type.String(),
    workspaceName: Type.String({
      description: '`Tagwarden`, or the default workspace if the container has reached its workspace limit',
    }),
    workspaceCreated: Type.Boolean(),
    template: OneOf(['new', 'existing', 'updated']),
    tag: OneOf(['new', 'updated']),
    monitoredTags: Int({ description: 'Number of selected tags' }),
  },
  {
    $id: 'TagDeployment',
    examples: [
      {
        deployed: true,
        workspacePath: 'accounts/6000000001/containers/7000001/workspaces/14',
        workspaceName: 'Tagwarden',
        workspaceCreated: true,
        template: 'new',
        tag: 'new',
        monitoredTags: 2,
      },
    ],
  },
)
export type Deployed = Static<typeof DeployedSchema>

const DEPLOY_STATUSES = ['running', 'done', 'failed', 'none'] as const

export const DeployStatusSchema = Closed(
  {
    status: OneOf(DEPLOY_STATUSES, { description: '`none`: no deployment into this container has been started' }),
    callsDone: Int(),
    callsTotal: Int({ description: 'Estimated total number of calls' }),
    waitsUntil: Nullable(InstantSchema),
    error: Nullable(Type.String()),
  },
  {
    $id: 'TagDeployStatus',
    examples: [{ status: 'running', callsDone: 25, callsTotal: 74, waitsUntil: 1_767_614_500_000, error: null }],
  },
)
export type DeployStatus = Static<typeof DeployStatusSchema>

export const TagListSchema = Closed(
  {
    workspaceName: Type.String(),
    tags: Type.Array(
      Closed({
        tagId: Type.String(),
        name: Type.String(),
        type: Type.String(),
        displayType: Type.String({ description: 'Display name of the tag type' }),
        paused: Type.Boolean(),
        isService: Type.Boolean({ description: "True for Tagwarden's own tag" }),
        parameters: Type.Array(Closed({ value: Type.String(), type: Type.String() })),
      }),
    ),
    variables: Type.Array(Closed({ name: Type.String(), type: Type.String() })),
  },
  {
    $id: 'ContainerTags',
    examples: [
      {
        workspaceName: 'Tagwarden',
        tags: [
          {
            tagId: '12',
            name: 'Purchase',
            type: 'gaawe',
            displayType: 'Google Analytics: GA4 event',
            paused: false,
            isService: false,
            parameters: [{ value: 'purchase', type: 'template' }],
          },
        ],
        variables: [{ name: 'Order ID', type: 'v' }],
      },
    ],
  },
)
export type TagList = Static<typeof TagListSchema>

/** True if the text is a hostname, optionally with `*.` in front. */
export const isDomain = (text: string): boolean => new RegExp(DOMAIN, 'u').test(text)
