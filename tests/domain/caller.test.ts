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
  ],
  unnamed: ['', ' ', '\t '],
  'app-library': [
    'okhttp/4.12.0',
    'com.shop.app/42 (Linux; U; Android 12) okhttp/4.9',
    'Alamofire/5.0',
    'Cronet/119',
    'Ktor client',
    'UnityPlayer/2021.3 (UnityWebRequest/1.0, libcurl/7.80)',
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
  for (const piece of ['okhttp', ' (', 'url ', 'react ', 'whatsapp/', 'link preview', 'ktor-']) {
    assert.ok(read(piece.repeat(512).slice(0, 512)) !== 'unnamed')
  }
})
