import { alertTypes } from '../alerts/types/index.ts'
import { Closed, type Static, type TObject, Type } from '../core/schema.ts'
import { STEP_SCHEMAS, STEP_TITLES, STEP_TYPES } from '../flows/recording-steps.ts'
import type { AnyInsight } from '../insights/insight.ts'
import { NotifySchema } from '../integrations/delivery/notify-setting.ts'
import type { Channel } from '../integrations/providers/channel.ts'
import type { Connector } from '../integrations/providers/connector.ts'
import { formOf } from '../openapi/json-schema.ts'

const FormSchema = Closed(
  {
    kind: Type.String({ description: 'Name in the API' }),
    title: Type.String({ description: 'Display name' }),
    help: Type.String({ description: 'Short explanation of the purpose; may be empty' }),
    schema: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'JSON Schema 2020-12 of an object, without references. Every field has a `title` and an `x-order` (its ' +
        'position, from 1). Optional keywords: `description`, `x-unit` (unit of a number), `x-secret` (the value is ' +
        'never returned), `x-titles` (labels of the values in `enum`) and `x-integration` (the field also accepts the id of an integration with this provider)',
    }),
  },
  {
    $id: 'Form',
    examples: [
      {
        kind: 'webhook',
        title: 'Webhook',
        help: 'Posts each message as signed JSON to your server.',
        schema: {
          type: 'object',
          properties: { url: { type: 'string', minLength: 1, title: 'URL', 'x-order': 1 } },
          required: ['url'],
          additionalProperties: false,
        },
      },
    ],
  },
)
export type Form = Static<typeof FormSchema>

const formsOf = (description: string) => Type.Array(FormSchema, { description })

export const FormsSchema = Closed(
  {
    channels: formsOf('Fields of alert channels in addition to `type`, by channel type'),
    integrations: formsOf('Fields of `config` of integrations, by provider'),
    alertTypes: formsOf('Fields specific to each alert type'),
    insights: formsOf('Path and query parameters of insights'),
    flowSteps: formsOf('Fields of the steps of flow tests in addition to `type`, by type'),
  },
  { $id: 'Forms' },
)

/** Returns the forms of all objects that can be added, as one value. */
export function formsOfAll(
  channels: readonly Channel[],
  connectors: readonly Connector[],
  insights: readonly AnyInsight[],
): Static<typeof FormsSchema> {
  return {
    channels: channels.map(channelForm),
    integrations: connectors.map(integrationForm),
    alertTypes: alertTypes.map(({ kind, form: { title, guide, configuration } }) => {
      const fields = configuration ? { [configuration.field]: configuration.schema } : {}
      return { kind, title, help: `Fires ${guide.fires}.`, schema: schemaOf(Closed(fields)) }
    }),
    insights: insights.map(({ id, summary, description = '', params, input }) => ({
      kind: id,
      title: summary,
      help: description,
      schema: schemaOf(Closed({ ...params?.properties, ...input?.properties })),
    })),
    flowSteps: STEP_TYPES.map((kind) => ({
      kind,
      title: STEP_TITLES[kind],
      help: '',
      schema: schemaOf(STEP_SCHEMAS[kind]),
    })),
  }
}

function channelForm({ type, title, help, addresses, hasIntegrations }: Channel): Form {
  const target = { ...addresses.target, ...(hasIntegrations ? { 'x-integration': type } : {}) }
  return { kind: type, title, help, schema: schemaOf(Closed({ target })) }
}

function integrationForm({ type, title, help, configuration, notifies, secrets }: Connector): Form {
  const fields = { ...configuration.schema.properties, ...(notifies ? { notify: Type.Optional(NotifySchema) } : {}) }
  return { kind: type, title, help, schema: schemaOf(Closed(fields), secrets.fields) }
}

function schemaOf(fields: TObject, secrets?: readonly string[]): Form['schema'] {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...formOf(fields, secrets) }
}
