import type { Command } from './command.ts'
import { openServer, SERVER_FLAGS } from './server-client.ts'

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
    const call = openServer(exportCommand, invocation)
    const { readOrganization } = await import('../configuration/organization.ts')
    const { exportText } = await import('../configuration/export.ts')
    process.stdout.write(exportText(await readOrganization(call)))
    return 0
  },
}
