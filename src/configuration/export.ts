import { FILE_VERSION } from './desired.ts'
import type { Organization } from './organization.ts'
import { SECTIONS } from './sections.ts'
import type { Fields } from './shape.ts'
import { printYaml } from './yaml-file.ts'

const HEADER = `yaml-language-server: $schema=tagwarden.schema.json

Configuration of Tagwarden. Keys identify items: a name can change, a key cannot.
Secrets are placeholders such as \${ON_CALL_SECRET}; set these environment variables when you apply the file.

  tagwarden plan FILE --url URL --key KEY     shows what applying would change
  tagwarden apply FILE --url URL --key KEY    creates and updates; with --prune, also deletes
  tagwarden export --schema > tagwarden.schema.json    for completion in editors`

/** Returns the configuration of an organization as a file. The same configuration gives the same text. */
export function exportText({ items }: Organization): string {
  const content: Fields = { version: FILE_VERSION }
  for (const { name, isSingle } of SECTIONS) {
    const section = [...(items.get(name) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
    const [first] = section
    if (!first) continue
    content[name] = isSingle
      ? first[1].exported
      : Object.fromEntries(section.map(([key, { exported }]) => [key, exported]))
  }
  return printYaml(content, HEADER)
}
