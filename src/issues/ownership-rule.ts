import { ChannelSchema } from '../alerts/alert.ts'
import { Closed, Nullable, type Static, Text, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'

/** Maximum number of rules in an organization. */
export const MAX_RULES = 200
const MAX_CHANNELS = 10

const id = (of: string) => Type.Optional(Type.String({ maxLength: 100, description: `Id of a ${of}` }))

const MatchSchema = Closed(
  {
    domainId: id('domain'),
    projectId: id('project, which contains the domain of the issue'),
    vendor: Type.Optional(Text(1, 200, { description: 'Vendor name, as listed in `/docs/api/vendors`' })),
    labelId: id('label, which contains the vendor and event of the issue'),
    pathPrefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        pattern: '^/',
        description: 'Beginning of the page path. An issue without a known page path does not match',
        examples: ['/checkout/'],
      }),
    ),
  },
  { description: 'An issue must match all of these fields. Empty: every issue' },
)

/** The conditions of a rule. Absent fields match every issue. */
export type OwnershipMatch = Static<typeof MatchSchema>

const RuleSchema = Closed({
  match: MatchSchema,
  assigneeId: Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Member; null or absent: nobody' }))),
  channels: Type.Optional(
    Type.Array(ChannelSchema, {
      maxItems: MAX_CHANNELS,
      description:
        'Channels that are notified in addition to the channels of the alert. Targets are masked for viewers and ' +
        'read-only keys; sending a masked target keeps the stored target',
    }),
  ),
})

export const OwnershipSchema = Closed(
  {
    rules: Type.Array(RuleSchema, {
      maxItems: MAX_RULES,
      description: 'In order of precedence: the first rule that an issue matches is used',
    }),
  },
  {
    $id: 'Ownership',
    examples: [
      {
        rules: [
          {
            match: { domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta', pathPrefix: '/checkout/' },
            assigneeId: 'usr_01ke7jhv00b6d8n2r5v7y1j3fq',
            channels: [{ type: 'email', target: 'checkout@example.com' }],
          },
        ],
      },
    ],
  },
)
/** The rules in a response. */
export const OwnershipAnswerSchema = Closed(
  { ...OwnershipSchema.properties, managedBy: managedByField('ownership') },
  { $id: 'OwnershipRules', examples: OwnershipSchema.examples },
)
export type Ownership = Static<typeof OwnershipSchema>
export type OwnershipRule = Ownership['rules'][number]

/** Data of an issue that rules can match. */
export interface MatchedFacts {
  domainId: string | null
  /** Project of the domain. */
  projectId: string | null
  vendor: string | null
  /** Labels that contain the vendor and event. */
  labelIds: readonly string[]
  /** Path of the page on which the sample event was sent; null if unknown. */
  path: string | null
}

/** Returns the index of the first rule that the issue matches; -1 if there is none. */
export function firstMatch(rules: readonly { match: OwnershipMatch }[], facts: MatchedFacts): number {
  return rules.findIndex(({ match }) => isMatch(match, facts))
}

function isMatch({ domainId, projectId, vendor, labelId, pathPrefix }: OwnershipMatch, facts: MatchedFacts): boolean {
  return (
    (domainId === undefined || domainId === facts.domainId) &&
    (projectId === undefined || projectId === facts.projectId) &&
    (vendor === undefined || vendor === facts.vendor) &&
    (labelId === undefined || facts.labelIds.includes(labelId)) &&
    (pathPrefix === undefined || (facts.path?.startsWith(pathPrefix) ?? false))
  )
}
