import { Closed, type Static, Text, Type } from '../core/schema.ts'

/** Maximum number of managed items per organization. */
export const MAX_MANAGED_ITEMS = 20_000

const EXAMPLE = { key: 'purchase-without-id', file: 'tagwarden.yaml' }

const key = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,99}$',
  description: 'Key of the item in the file, which identifies it across renames',
  examples: [EXAMPLE.key],
})
const file = Text(1, 200, { description: 'Name of the file, without its folder', examples: [EXAMPLE.file] })

/** The file that manages an item, and the key of the item in it. */
const ManagedBySchema = Closed(
  { key, file },
  {
    $id: 'ManagedBy',
    description:
      'The configuration file that manages the item (`tagwarden apply`), and the key of the item in it. Absent for items that no file manages. Changes made elsewhere are overwritten when the file is next applied',
    examples: [EXAMPLE],
  },
)
export type ManagedBy = Static<typeof ManagedBySchema>

/** Symbols are not serialized, so published schemas don't contain this property. */
export const MANAGED_ID: unique symbol = Symbol('managed id')

/**
 * The field `managedBy` of an item in a response, which `fillManagedBy` fills. `id`: the id under which an item without
 * an id is managed.
 */
export const managedByField = (id?: 'ownership' | 'escalation') =>
  Type.Optional({ ...ManagedBySchema, ...(id === undefined ? {} : { [MANAGED_ID]: id }) } as typeof ManagedBySchema)

const id = Type.String({
  pattern: '^(?:(?:alr|dom|prj|lbl|int|tst|mnt|cal|ocr)_[a-z0-9]{1,60}|ownership|escalation)$',
  description: 'Id of the item; `ownership` and `escalation` for the rules of the organization',
  examples: ['alr_01ke7jpe008wq2m5x0t4c9r7hv'],
})

export const ManagedItemSchema = Closed(
  { id, key, file },
  { $id: 'ManagedItem', examples: [{ id: 'alr_01ke7jpe008wq2m5x0t4c9r7hv', ...EXAMPLE }] },
)
export type ManagedItem = Static<typeof ManagedItemSchema>

export const ManagedInputSchema = Closed(
  {
    items: Type.Optional(
      Type.Array(ManagedItemSchema, { maxItems: 1000, description: 'Items that the file manages from now on' }),
    ),
    released: Type.Optional(
      Type.Array(id, { maxItems: 1000, description: 'Ids of items that no file manages from now on' }),
    ),
  },
  { $id: 'ManagedInput', examples: [{ items: [{ id: 'alr_01ke7jpe008wq2m5x0t4c9r7hv', ...EXAMPLE }] }] },
)
export type ManagedInput = Static<typeof ManagedInputSchema>
