import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallerReader } from '../../src/domain/caller.ts'
import type { Caller } from '../../src/domain/caller.ts'

const cases: Readonly<Record<Caller, readonly string[]>> = {
  ordinary: [
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    // The browser inside the app of a network, not its preview.
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/440]',
    // The list of bots knows neither.
    'ExampleShop/3.2 CFNetwork/1408.0.4 Darwin/22.5.0',
    'Dart/3.1 (dart:io)',
    'Expo/2.29.7 CFNetwork/1410.0.3 Darwin/22.6.0',
    // An app's browser, which says what the app is made with.
    'Mozilla/5.0 (Linux; Android 13; Pixel 7; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/119.0.0.0 Mobile Safari/537.36 AcmeShop Ktor/2.3',
    'AcmeShop/5.2.0 (iPhone; iOS 17.0; Scale/3.00)',
  ],
  unnamed: ['', ' ', '\t '],
  'app-library': [
    'okhttp/4.12.0',
    'com.shop.app/42 (Linux; U; Android 12) okhttp/4.9',
    'Alamofire/5.0',
    'Cronet/119',
    'Ktor client',
    'UnityPlayer/2021.3 (UnityWebRequest/1.0, libcurl/7.80)',
    // The list of bots does not know these libraries.
    'Dalvik/2.1.0 (Linux; U; Android 12; Pixel 6 Build/SD1A.210817.036)',
    'AcmeShop/5.2.0 (de.acme.shop; build:12; iOS 17.0.0) Alamofire/5.6.4',
    'AcmeShop/5.2.0 (Linux; Android 13) Cronet/119.0.6045.31',
    // An app that names itself and nothing else. The list of bots has any such text on it.
    'AcmeShop/5.2.0',
    'AcmeShop/5',
    'de.acme.shop/5.2.0',
    'Acme Shop/5.2.0',
    'AcmeShop-iOS/5.2.0',
    'AcmeShop',
    'acme/5.2 (android)',
    // A word of a robot in the name of a phone or of an app that scans what its shopper puts into the trolley.
    'com.shop.app/5.1 (Linux; Android 10; CUBOT NOTE 20) okhttp/4.9.3',
    'AcmeShop/5.1 Android/10 CUBOT_NOTE_20 okhttp/4.9.3',
    'com.shop.app/5.1 (Linux; Android 11; Barcode Scanner TC21) okhttp/4.9.3',
    'Scan&Go/3.2 CFNetwork/1404.0.5 Darwin/22.3.0',
    'Scan%20%26%20Go/3.2 CFNetwork/1404.0.5 Darwin/22.3.0',
    'ScanGo/3.2 (Android 13) okhttp/4.12.0',
    'Botanica/2.0 okhttp/4.12.0',
  ],
  'mail-proxy': [
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
    'SeznamEmailProxy/2.0.179',
  ],
  bot: [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'curl/8.5.0',
    'python-requests/2.31',
    'Mozilla/5.0',
    // Previews, some of which the list of bots does not know.
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Slack-ImgProxy (+https://api.slack.com/robots)',
    'WhatsApp/2.23.20.0',
    'TelegramBot (like TwitterBot)',
    // A robot on the library of an app.
    'examplebot/1.0 okhttp/4.12.0',
    'okhttp-preview/1',
    'SomeBot/1.0 okhttp/4',
    'some_bots/1.0 okhttp/4',
    'okhttp/4.12.0 (compatible; SomeBot/1.0)',
    'PortScanner/1.0 okhttp/4.12.0',
    'AcmeMonitoring/1.0 okhttp/4.12.0',
    'UptimeMonitor/2 (Android 13) okhttp/4.12.0',
    'PriceScraper/1.0 (Linux; Android 10) Dalvik/2.1.0',
    'AcmeMonitoring/1.0',
    'Scrapy/2.11',
    // Tools of servers that name themselves like an app.
    'Mozilla/4.0',
    'Mozilla/5.0 (compatible)',
    'Wget/1.21.4',
    'Python-urllib/3.11',
    'python-httpx/0.25.1',
    'aiohttp/3.9.1',
    'Go-http-client/1.1',
    'Java/17.0.9',
    'Apache-HttpClient/4.5.14',
    'axios/1.6.2',
    'node-fetch/1.0',
    'undici',
    'got/14.0.0',
    'node',
    'Deno/1.38.0',
    'Bun/1.0.14',
    'PostmanRuntime/7.35.0',
    'insomnia/2023.5.8',
    'libwww-perl/6.72',
    'Ruby',
    'Faraday v2.7.11',
    'PHP/8.2',
    'GuzzleHttp/7',
    'HeadlessChrome/119.0',
    'reqwest/0.11',
    'k6/0.47.0',
    'kube-probe/1.28',
    'Zabbix 6.0',
    'Prometheus/2.48.0',
  ],
}

for (const [caller, userAgents] of Object.entries(cases)) {
  for (const userAgent of userAgents) {
    test(`"${userAgent}" is ${caller}`, () => {
      assert.equal(createCallerReader()(userAgent), caller)
    })
  }
}

test('a bot stays a bot after more user agents than are remembered', () => {
  const read = createCallerReader()
  const before = read('curl/8.5.0')

  for (let index = 0; index <= 20_000; index += 1) read(`Mozilla/5.0 (X11) Browser/${index}`)

  assert.equal(before, 'bot')
  assert.equal(read('curl/8.5.0'), 'bot')
  assert.equal(read('Mozilla/5.0 (X11) Browser/1'), 'ordinary')
})

test('the longest user agent that is kept is read in a moment, whatever it holds', () => {
  const read = createCallerReader()
  for (const piece of [
    'okhttp',
    ' (',
    'url ',
    'react ',
    'whatsapp/',
    'link preview',
    'ktor-',
    '(linux;',
    'a/1',
  ]) {
    assert.ok(read(piece.repeat(512).slice(0, 512)) !== 'unnamed')
  }
})
