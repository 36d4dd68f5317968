import { Closed, InstantSchema, type Static, Text, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'

const NameSchema = Text(1, 100)
const DomainIdsSchema = Type.Array(Text(1, 100), { maxItems: 1000 })

const EXAMPLE = { name: 'Shops', domainIds: ['dom_01ke7jm2q0d3k8f1z6y5b7n4ta'] }

/** A group of domains. A domain belongs to at most one project. */
export const ProjectSchema = Closed(
  {
    id: Type.String(),
    name: Type.String(),
    domainIds: Type.Array(Type.String()),
    createdAt: InstantSchema,
    managedBy: managedByField(),
  },
  {
    $id: 'Project',
    examples: [{ id: 'prj_01ke7jhv00h3a6d9g2j5m8q1tw', ...EXAMPLE, createdAt: 1_767_614_400_000 }],
  },
)
export type Project = Static<typeof ProjectSchema>

/** Input for a project. A listed domain that belongs to another project is moved. */
export const ProjectInputSchema = Closed(
  { name: NameSchema, domainIds: Type.Optional(DomainIdsSchema) },
  { $id: 'ProjectInput', examples: [EXAMPLE] },
)
export type ProjectInput = Static<typeof ProjectInputSchema>

/** Changes to a project. Omitted fields are not changed; `domainIds` replaces the whole list. */
export const ProjectPatchSchema = Closed(
  { name: Type.Optional(NameSchema), domainIds: Type.Optional(DomainIdsSchema) },
  { $id: 'ProjectPatch', examples: [{ name: 'Web shops' }] },
)
export type ProjectPatch = Static<typeof ProjectPatchSchema>
