/**
 * A browser or app that ua-parser-js 1.0.41 doesn't know or takes for a different one. The first group of the pattern
 * is the major version.
 */
interface Correction {
  browser: string
  pattern: RegExp
}

/** The first match counts, before ua-parser-js is asked. Each row states the reason. */
export const CORRECTIONS: readonly Correction[] = [
  // Reported as Facebook, whose app it is not.
  { browser: 'Messenger', pattern: /\bFB(?:AN|_IAB)\/(?:Messenger|Orca)[^;\]]*;FBAV\/(\d+)/i },
  // Without a version, or with a comma for the version.
  { browser: 'Facebook', pattern: /\bFB(?:AN\/FB|_IAB\/FB4A|AN\/Groups)[^\]]*?;FBAV\/(\d+)/ },
  { browser: 'Facebook', pattern: /\bFB(?:AN\/FB|_IAB\/FB4A|AN\/Groups)|\bMetaIAB Facebook\b/ },
  // The app of Threads, unknown. It names itself by its code name.
  { browser: 'Threads', pattern: /\bBarcelona (\d+)/ },
  // Only `musical_ly` is known. `trill_340905` is version 34.9.5, but numbers of ten digits are not versions.
  { browser: 'TikTok', pattern: /\b(?:musical_ly|trill|TikTok)[_ /](\d{1,3})(?=\.|\d{4}\b)/ },
  { browser: 'TikTok', pattern: /\b(?:BytedanceWebview|musical_ly|trill_)(?:.*\bapp_version\/(\d+))?/i },
  // Unknown.
  { browser: 'Pinterest', pattern: /\[Pinterest\/\w+\]|\bPinterest(?: for \w+)?\/(\d+)/ },
  { browser: 'Spotify', pattern: /\bSpotify\/(\d+)/ },
  { browser: 'Slack', pattern: /\bSlack(?:_SSB)?\/(\d+)/ },
  { browser: 'Flipboard', pattern: /\bFlipboard\/(\d+)/ },
  { browser: 'Ecosia', pattern: /\(Ecosia [a-z]+@(\d+)/ },
  { browser: 'Seznam', pattern: /\b(?:SznProhlizec|Szn-[\w-]+|Seznam)\/(\d+)/ },
  { browser: 'Outlook', pattern: /\bOutlook-iOS(?:-Android)?\/(\d+)/ },
  // On Windows, the version is that of the engine.
  { browser: 'WeChat', pattern: /\bMicroMessenger\/(\d+)/ },
  // Known on iOS only.
  { browser: 'Google app', pattern: /\bGSA\/(\d+)/ },
  { browser: 'LINE', pattern: /\bLine\/(\d+)/ },
  // On iOS it is named without a version.
  { browser: 'Brave', pattern: /\bVersion\/(\d+).* Safari\/[\d.]+ Brave$/ },
  // Taken for Chromium if that is named as well.
  { browser: 'HeadlessChrome', pattern: /\bHeadlessChrome\/(\d+)/ },
  // Without a version in some agents, and taken for Opera.
  { browser: 'Opera Mini', pattern: /^(?!UCWEB).*\bOpera Mini\b(?:\/(?:att\/)?(\d+))?/ },
  // Android 4.4 has no `; wv`, and is taken for the browser of older versions. Browsers have a name after `Version/4.0`.
  {
    browser: 'Android WebView',
    pattern: /\bAndroid\b.*\bVersion\/\d\.\d Chrome\/(\d+)[\d.]*(?: Mobile)? Safari\/[\d.]+$/,
  },
]

/** Parts of the agents of browsers that isbot 5.2.3 takes for those of bots. They are removed before it is asked. */
export const NO_BOTS = new RegExp(
  [
    // A process of WeChat; isbot looks for `tools`.
    'Process/tools',
    // Apple's news app, where people read; isbot looks for `news`.
    'AppleNews',
    // Models of phones; isbot looks for `google`.
    'Google (?:Nexus|Pixel)',
  ].join('|'),
  'g',
)

/**
 * Libraries for HTTP, and frameworks of apps that send no browser's agent. isbot takes most of them for bots, but here
 * they are an app or a server that sends its own events. The second group is the major version.
 */
export const LIBRARY =
  /(?:^|[ (])(aiohttp|alamofire|cfnetwork|dalvik|okhttp)(?:[/ ]v?(\d+)|[ );]|$)|^(apache-httpclient|axios|curl|dart|faraday|go-http-client|got|guzzlehttp|java|java-http-client|ktor-client|ktor client|libwww-perl|node|node-fetch|php|postmanruntime|python|python-httpx|python-requests|python-urllib|reqwest|restsharp|ruby|undici|wget)(?:[/ ]v?(\d+)|[ ;(]|$)/i

/** Names of the libraries, by the lower case of what the agent says. */
export const LIBRARIES: ReadonlyMap<string, string> = new Map(
  (
    'aiohttp|Alamofire|Apache-HttpClient|axios|CFNetwork|curl|Dalvik|Dart|Faraday|Go-http-client|got|Java|libwww-perl|' +
    'node-fetch|okhttp|PHP|Python|python-httpx|python-requests|reqwest|RestSharp|Ruby|undici'
  )
    .split('|')
    .map((name): [string, string] => [name.toLowerCase(), name])
    .concat([
      ['guzzlehttp', 'Guzzle'],
      ['java-http-client', 'Java'],
      ['ktor client', 'Ktor'],
      ['ktor-client', 'Ktor'],
      ['node', 'Node.js'],
      ['postmanruntime', 'Postman'],
      ['python-urllib', 'Python'],
      ['wget', 'Wget'],
    ]),
)
