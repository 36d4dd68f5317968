import type { CallApi } from '../configuration/api-client.ts'
import { type Command, type Flag, type Invocation, required, UsageError } from './command.ts'

/** Flags of commands that call the API of a server. */
export const SERVER_FLAGS = {
  url: { type: 'string', value: 'BASE', meaning: 'URL of the server; default http://127.0.0.1:8787' },
  key: { type: 'string', value: 'K', meaning: 'API key of an admin or owner, ak_…' },
} as const satisfies Record<string, Flag>

const DEFAULT_URL = 'http://127.0.0.1:8787'

/** Returns a function that calls the API of the server that the flags name. Throws `UsageError`. */
export async function openServer(command: Command, invocation: Invocation): Promise<CallApi> {
  const { url = DEFAULT_URL } = invocation.flags
  const parsed = URL.parse(String(url))
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(`${command.name}: --url must be a URL such as ${DEFAULT_URL}`)
  }
  const server = { url: String(url).replace(/\/+$/, ''), key: required(command, invocation, 'key') }
  const { apiClient } = await import('../configuration/api-client.ts')
  return apiClient(server, (request) => fetch(request))
}

export const exportCommand: Command = {
  name: 'export',
  summary: 'Prints the configuration of an organization as YAML, without secrets.',
  flags: {
    ...SERVER_FLAGS,
    schema: { type: 'boolean', meaning: 'Print the JSON Schema of the file instead, without a server' },
  },
  async run(invocation) {
    if (invocation.flags.schema) {
      const { fileSchema } = await import('../configuration/file-schema.ts')
      console.log(JSON.stringify(fileSchema(), null, 2))
      return 0
    }
    const call = await openServer(exportCommand, invocation)
    const { readOrganization } = await import('../configuration/organization.ts')
    const { exportText } = await import('../configuration/export.ts')
    process.stdout.write(exportText(await readOrganization(call)))
    return 0
  },
}
