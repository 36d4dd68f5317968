/** Browsers by the name that ua-parser-js gives them, in lower case, if ours is a different one. */
const RENAMED: Record<string, string> = {
  'android browser': 'Android Browser',
  'avast secure browser': 'Avast Secure Browser',
  'avg secure browser': 'AVG Secure Browser',
  '115': '115 Browser',
  '360': '360 Browser',
  '2345': '2345 Explorer',
  'chrome headless': 'HeadlessChrome',
  'chrome webview': 'Android WebView',
  cobalt: 'Cobalt',
  fennec: 'Firefox',
  'firefox focus': 'Firefox Focus',
  'firefox reality': 'Firefox Reality',
  gsa: 'Google app',
  heytap: 'HeyTap Browser',
  ie: 'Internet Explorer',
  iemobile: 'Internet Explorer',
  iron: 'SRWare Iron',
  kakaostory: 'KakaoStory',
  kakaotalk: 'KakaoTalk',
  klar: 'Firefox Focus',
  lbbrowser: 'LieBao',
  line: 'LINE',
  'miui browser': 'Mi Browser',
  'mobile safari': 'Safari',
  'opera mobi': 'Opera',
  'opera mobile': 'Opera',
  'opera tablet': 'Opera',
  'opera touch': 'Opera',
  qq: 'QQ Browser',
  qqbrowser: 'QQ Browser',
  qqbrowserlite: 'QQ Browser',
  silk: 'Amazon Silk',
  ucbrowser: 'UC Browser',
  yandex: 'Yandex Browser',
}

/** Browsers that ua-parser-js gives the same name, except for the case of its letters. */
const SAME =
  'Alipay|Baidu|Basilisk|Brave|Chrome|Chromium|Coc Coc|Daum|Dolphin|Dragon|DuckDuckGo|Edge|Electron|Epiphany|Facebook|' +
  'Falkon|Firefox|Helio|Huawei Browser|IceCat|Instagram|Iridium|K-Meleon|Kindle|Klarna|Konqueror|Ladybird|LibreWolf|' +
  'LinkedIn|Lynx|Maxthon|Midori|Naver|NetFront|NetSurf|Obigo|Oculus Browser|Opera|Opera Coast|Opera GX|Opera Mini|' +
  'PaleMoon|PhantomJS|Pico Browser|Puffin|Quark|QupZilla|Safari|Sailfish Browser|Samsung Internet|SeaMonkey|Sleipnir|' +
  'Smart Lenovo Browser|Snapchat|Sogou Explorer|Sogou Mobile|Tesla|TikTok|Tizen Browser|Twitter|Vivaldi|Vivo Browser|' +
  'Waterfox|WeChat|Weibo|Whale|Wolvic'

/**
 * Browsers by the name that ua-parser-js gives them, in lower case. The list is closed: it copies the letters of many
 * names from the agent, so others could be made up without limit.
 */
export const BROWSERS: ReadonlyMap<string, string> = new Map([
  ...SAME.split('|').map((name): [string, string] => [name.toLowerCase(), name]),
  ...Object.entries(RENAMED),
])

/** Linux distributions that ua-parser-js names as operating systems. */
const DISTRIBUTIONS =
  'arch|centos|debian|deepin|elementary os|fedora|gentoo|gnu|kubuntu|linpus|lubuntu|mageia|mandriva|manjaro|mint|' +
  'opensuse|pclinuxos|raspbian|red hat|redhat|slackware|suse|ubuntu|vectorlinux|xubuntu|zenwalk|joli'

/** Operating systems by the name that ua-parser-js or a client hint gives them, in lower case. */
export const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ...DISTRIBUTIONS.split('|').map((name): [string, string] => [name, 'Linux']),
  ['android', 'Android'],
  ['android-x86', 'Android'],
  ['bada', 'Bada'],
  ['blackberry', 'BlackBerry'],
  ['chrome os', 'ChromeOS'],
  ['chromecast', 'Chromecast'],
  ['chromeos', 'ChromeOS'],
  ['chromium os', 'ChromeOS'],
  ['firefox os', 'Firefox OS'],
  ['freebsd', 'FreeBSD'],
  ['fuchsia', 'Fuchsia'],
  ['harmonyos', 'HarmonyOS'],
  ['ios', 'iOS'],
  ['kaios', 'KaiOS'],
  ['linux', 'Linux'],
  ['mac os', 'macOS'],
  ['macos', 'macOS'],
  ['maemo', 'Maemo'],
  ['meego', 'MeeGo'],
  ['netbsd', 'NetBSD'],
  ['nintendo', 'Nintendo'],
  ['openbsd', 'OpenBSD'],
  ['openharmony', 'HarmonyOS'],
  ['playstation', 'PlayStation'],
  ['rim tablet os', 'BlackBerry'],
  ['sailfish', 'Sailfish'],
  ['series40', 'Series 40'],
  ['symbian', 'Symbian'],
  ['tizen', 'Tizen'],
  ['ubuntu touch', 'Ubuntu Touch'],
  ['watchos', 'watchOS'],
  ['webos', 'webOS'],
  ['windows', 'Windows'],
  ['windows iot', 'Windows'],
  ['windows mobile', 'Windows Mobile'],
  ['windows phone', 'Windows Phone'],
  ['windows phone os', 'Windows Phone'],
  // Its system is a Windows, and browsers there say so.
  ['xbox', 'Windows'],
])

/** Operating systems of desktop computers only. Linux also runs on other devices that browsers don't call Android. */
export const DESKTOP_SYSTEMS: readonly string[] = ['Windows', 'macOS', 'ChromeOS', 'FreeBSD', 'NetBSD', 'OpenBSD']

/**
 * Browsers by their brand in client hints. Others are ignored, which includes the brands that Chromium invents to keep
 * servers from relying on a fixed list, such as `Not)A;Brand`.
 */
export const BRANDS: ReadonlyMap<string, string> = new Map([
  ['Android WebView', 'Android WebView'],
  ['Avast Secure Browser', 'Avast Secure Browser'],
  ['AVG Secure Browser', 'AVG Secure Browser'],
  ['Brave', 'Brave'],
  ['CocCoc', 'Coc Coc'],
  ['Chromium', 'Chromium'],
  ['DuckDuckGo', 'DuckDuckGo'],
  ['Google Chrome', 'Chrome'],
  ['HeadlessChrome', 'HeadlessChrome'],
  ['Huawei Browser', 'Huawei Browser'],
  ['Microsoft Edge', 'Edge'],
  ['Microsoft Edge WebView2', 'Edge'],
  ['Oculus Browser', 'Oculus Browser'],
  ['Opera', 'Opera'],
  ['Opera GX', 'Opera GX'],
  ['Opera Mobile', 'Opera'],
  ['Samsung Internet', 'Samsung Internet'],
  ['Vivaldi', 'Vivaldi'],
  ['Whale', 'Whale'],
  ['YaBrowser', 'Yandex Browser'],
  ['Yandex', 'Yandex Browser'],
])

/**
 * Browsers that client hints or agents also name when a different browser or an app is based on them, from the least to
 * the most specific.
 */
export const GENERIC_BROWSERS: readonly string[] = ['Chromium', 'Chrome', 'Android WebView']
