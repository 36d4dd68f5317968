import { ChannelSchema } from '../alerts/alert.ts'
import { CONNECTORS } from '../connectors.ts'
import { CHANNEL_TYPES, PROVIDER_TITLES } from '../contract/products.ts'
import type { TObject, TSchema } from '../core/schema.ts'
import { NotifySchema } from '../integrations/delivery/notify-setting.ts'
import type { Connector } from '../integrations/providers/connector.ts'
import { plain } from '../openapi/json-schema.ts'
import { FILE_VERSION, KEY_PATTERN } from './desired.ts'
import { placeholderOf } from './placeholders.ts'
import type { Section } from './section.ts'
import { SECTIONS } from './sections.ts'
import { type Fields, fileProperties } from './shape.ts'

/** A string that may be a placeholder of any length. */
const secretText = ({ description }: TSchema): Fields => ({
  type: 'string',
  ...(description === undefined ? {} : { description }),
})

/** Returns the JSON Schema 2020-12 of configuration files. It is derived from the schemas of the API. */
export function fileSchema(): Fields {
  const defs: Record<string, Fields> = { FileChannel: channelSchema() }
  const refer = (schema: TSchema): Fields => {
    const { $id: name } = schema
    if (name === undefined) return plain(schema, refer)
    if (!defs[name]) {
      // Set first, because a condition can contain conditions.
      defs[name] = {}
      defs[name] = plain(schema, refer)
    }
    return { $ref: `#/$defs/${name}` }
  }
  const sections = SECTIONS.map((section): [string, Fields] => [section.name, sectionSchema(section, refer)])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tagwarden configuration',
    description: 'A file for `tagwarden apply`',
    type: 'object',
    additionalProperties: false,
    properties: {
      version: { const: FILE_VERSION, description: 'Version of the file format' },
      ...Object.fromEntries(sections),
    },
    $defs: defs,
  }
}

function sectionSchema(section: Section, refer: (schema: TSchema) => Fields): Fields {
  const description = section.isSingle
    ? `The ${section.noun} of the organization`
    : `Each ${section.noun} by its key, which identifies it across renames`
  const item = itemSchema(section, refer)
  if (section.isSingle) return { description, ...item }
  return {
    description,
    type: ['object', 'null'],
    additionalProperties: false,
    patternProperties: { [KEY_PATTERN]: item },
  }
}

function itemSchema({ name, shape, input }: Section, refer: (schema: TSchema) => Fields): Fields {
  if (name === 'integrations')
    return { anyOf: CONNECTORS.map((connector) => integrationSchema(connector, input, refer)) }
  return {
    type: 'object',
    additionalProperties: false,
    ...fileProperties(shape, input.properties, input.required ?? [], refer),
  }
}

function integrationSchema(
  { type, configuration, secrets, notifies }: Connector,
  input: TObject,
  refer: (schema: TSchema) => Fields,
): Fields {
  const isSecret = (name: string) => secrets.fields.some((secret) => secret === name)
  const { properties, required = [] } = configuration.schema
  const fields = Object.entries<TSchema>(properties).map(([name, schema]): [string, Fields] => [
    name,
    isSecret(name) || name === 'url' ? secretText(schema) : refer(schema),
  ])
  return {
    type: 'object',
    description: PROVIDER_TITLES[type],
    additionalProperties: false,
    properties: {
      provider: { const: type, description: PROVIDER_TITLES[type] },
      label: refer(input.properties.label as TSchema),
      config: {
        type: 'object',
        additionalProperties: false,
        properties: { ...Object.fromEntries(fields), ...(notifies ? { notify: refer(NotifySchema) } : {}) },
        // The server keeps a secret that the file does not contain.
        required: (required as string[]).filter((name) => !isSecret(name)),
      },
    },
    required: ['provider', 'config'],
  }
}

function channelSchema(): Fields {
  const type = { enum: CHANNEL_TYPES, description: ChannelSchema.properties.type.description }
  return {
    description: ChannelSchema.description,
    anyOf: [
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          type,
          target: {
            type: 'string',
            description: `E-mail addresses, \`owners\`, or a URL, which should be a placeholder such as \`${placeholderOf('SLACK_URL')}\``,
          },
        },
        required: ['type', 'target'],
      },
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          type,
          integration: { type: 'string', description: 'Key of an item of `integrations`' },
          project: { type: 'string', description: 'Jira: key of another project than that of the integration' },
        },
        required: ['type', 'integration'],
      },
    ],
  }
}
