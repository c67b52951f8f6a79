/** The real lab for browser tests: starts the binary on a free port with a folder of its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const BINARY = resolve(process.env.CARTRIDGE_BIN ?? '../target/release/cartridge');
const LOGIN_URL = /http:\/\/127\.0\.0\.1:(\d+)\/login\?code=\S+(?=\s)/;
const START_MS = 30_000;

export class Lab {
  /** Where the login code leads; used up by the first visit. */
  loginUrl = '';
  port = 0;
  private child: ChildProcess | null = null;
  private printed = '';

  private constructor(
    readonly data: string,
    readonly args: string[],
  ) {}

  static async start(...args: string[]): Promise<Lab> {
    if (!existsSync(BINARY)) {
      throw new Error(`no binary at ${BINARY}: build it first, or set CARTRIDGE_BIN`);
    }
    const lab = new Lab(await mkdtemp(join(tmpdir(), 'cartridge-e2e-')), args);
    await lab.up();
    return lab;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async token(): Promise<string> {
    return (await readFile(join(this.data, 'token'), 'utf8')).trim();
  }

  /** Starts the process; again on the same port when it ran before. */
  async up(): Promise<void> {
    this.printed = '';
    const at = ['--port', String(this.port), '--data', this.data];
    const child = spawn(BINARY, ['up', ...at, ...this.args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    const take = (chunk: Buffer) => (this.printed += chunk.toString());
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const deadline = Date.now() + START_MS;
    for (;;) {
      const found = LOGIN_URL.exec(this.printed);
      if (found) {
        this.loginUrl = found[0];
        this.port = Number(found[1]);
        return;
      }
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`the lab did not start:\n${this.printed}`);
      }
      await pause(50);
    }
  }

  /** Ends the process at once, as a crash would. Training goes on without it. */
  async kill(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
  }

  /** Kills the trainer of a run, as the system does when memory runs out. */
  async killTrainer(run: string): Promise<void> {
    for (const pid of await readdir('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const words = line.split('\0');
      if (words.includes('worker') && words.includes(run)) process.kill(Number(pid), 'SIGKILL');
    }
  }

  async call<T>(path: string, method = 'GET'): Promise<T> {
    const response = await fetch(this.origin + path, {
      method,
      headers: {
        authorization: `Bearer ${await this.token()}`,
        ...(method === 'GET' ? {} : { 'idempotency-key': randomUUID() }),
      },
    });
    return (await response.json()) as T;
  }

  /** Waits until the lab has heard of the end of a run, which it looks for once a second. */
  async ended(run: string): Promise<void> {
    for (let tries = 0; tries < 100; tries += 1) {
      const { ended_at } = await this.call<{ ended_at?: string | null }>(`/api/runs/${run}`);
      if (ended_at) return;
      await pause(100);
    }
    throw new Error(`${run} has not ended`);
  }

  /** Runs a command on the lab's folder and returns the last line that it printed, as JSON. */
  async command<T>(...args: string[]): Promise<T> {
    return await this.bare<T>(...args, '--data', this.data, '--json');
  }

  /** The same, for commands that say where the folder is before what they start. */
  async bare<T>(...args: string[]): Promise<T> {
    const { stdout } = await promisify(execFile)(BINARY, args);
    return JSON.parse(stdout.trim().split('\n').at(-1) as string) as T;
  }

  /** The last moment of an episode, from its seed and actions. */
  async trace(env: string, seed: number, actions: unknown[]): Promise<Record<string, unknown>> {
    const file = join(this.data, 'actions.json');
    await writeFile(file, JSON.stringify(actions));
    const args = ['trace', env, '--seed', String(seed), '--actions', file, '--json'];
    const { stdout } = await promisify(execFile)(BINARY, args);
    const moments = stdout.trim().split('\n');
    if (moments.length !== actions.length + 1) throw new Error(`${moments.length} moments`);
    return JSON.parse(moments.at(-1) as string) as Record<string, unknown>;
  }

  /** Stops every run, then the lab, then takes its folder away. */
  async end(): Promise<void> {
    // A test may have failed between kill and up; runs outlive the lab and must not outlive us.
    if (this.child === null || this.child.killed) await this.up();
    type Runs = { runs: { id: string; capabilities: string[]; ended_at: string | null }[] };
    const { runs } = await this.call<Runs>('/api/runs');
    for (const run of runs) {
      if (run.capabilities.includes('stop')) await this.call(`/api/runs/${run.id}/stop`, 'POST');
    }
    for (let tries = 0; tries < 100; tries += 1) {
      const left = (await this.call<Runs>('/api/runs')).runs;
      if (left.every((run) => run.ended_at !== null)) break;
      await pause(200);
    }
    await this.kill();
    await rm(this.data, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
