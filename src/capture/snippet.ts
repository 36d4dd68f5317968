import template from './tag-manager.tpl' with { type: 'text' }

/** The code that a customer adds to the pages of a domain. */
export interface Snippet {
  /** HTML to paste at the beginning of `<head>`. */
  head: string
  /** Content of a file to import into Google Tag Manager as a custom template. */
  template: string
  scriptUrl: string
  configUrl: string
  /** JavaScript of `head`, without the `<script>` element. */
  script: string
}

/**
 * Returns the code for a domain. `base`: any URL on the host at which the domain's pages reach the collector. `stub`:
 * see `ScriptBundle`.
 */
export function snippetOf({ token, base, stub }: { token: string; base: string; stub: string }): Snippet {
  const addresses = snippetAddresses(token, base)
  const { scriptUrl } = addresses
  const script = put(stub, { SCRIPT_URL: JSON.stringify(scriptUrl) })
  return {
    ...addresses,
    script,
    head: `<script>${script}</script>`,
    template: tagManagerTemplate(scriptUrl),
  }
}

/** Returns the URLs of a domain's script and its configuration. `base`: see `snippetOf`. */
export function snippetAddresses(token: string, base: string): Pick<Snippet, 'scriptUrl' | 'configUrl'> {
  return { scriptUrl: new URL(`/t/${token}.js`, base).href, configUrl: new URL(`/t/${token}.json`, base).href }
}

/**
 * Returns the custom template for Google Tag Manager, with the script's URL as its default and permission to load it.
 */
export function tagManagerTemplate(scriptUrl: string): string {
  return put(template, { SCRIPT_URL: scriptUrl, SCRIPT_ORIGIN: new URL(scriptUrl).origin })
}

/** Replaces placeholders with their values. Special replacement patterns such as `$&` have no effect. */
function put(text: string, values: Record<string, string>): string {
  return Object.entries(values).reduce((done, [name, value]) => done.replaceAll(name, () => value), text)
}
